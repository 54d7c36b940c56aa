use std::{fs, path::Path, process::Command};

use super::page::blocks;

#[test]
fn every_manifest_of_the_guide_is_valid() {
    let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide");
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("manifest.yaml");
    let mut count = 0;
    for entry in fs::read_dir(guide).unwrap() {
        let path = entry.unwrap().path();
        let page = fs::read_to_string(&path).unwrap();
        let yaml = blocks(&page).into_iter().filter(|block| block.language == "yaml");
        let is_ours = |text: &String| text.contains("apiVersion: kollect.dev/");
        for (line, text) in yaml.map(|block| (block.line, block.lines.join("\n"))) {
            if !is_ours(&text) {
                continue;
            }
            fs::write(&file, text).unwrap();
            let run =
                Command::new(env!("CARGO_BIN_EXE_kollect")).arg("validate").arg(&file).output();
            let run = run.unwrap();
            let said = String::from_utf8_lossy(&run.stdout);
            assert!(run.status.success(), "{}:{line}\n{said}", path.display());
            count += 1;
        }
    }
    assert!(count > 5, "only {count} manifests were found");
}
