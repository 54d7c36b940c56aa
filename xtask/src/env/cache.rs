//! Where the servers are kept.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

/// What the environment says about caches; the first one that is set wins.
#[derive(Default)]
pub(super) struct Settings {
    pub(super) test_cache: Option<String>,
    pub(super) user_cache: Option<String>,
    pub(super) home: Option<String>,
}

/// The directory below which each set of servers has its own.
pub(super) fn directory(settings: Settings) -> Result<PathBuf> {
    let Settings { test_cache, user_cache, home } = settings;
    if let Some(test_cache) = test_cache {
        return std::path::absolute(&test_cache)
            .with_context(|| format!("KOLLECT_TEST_CACHE holds no usable path: {test_cache}"));
    }
    // The base directory specification wants a relative path to be ignored.
    if let Some(user_cache) = user_cache.filter(|path| Path::new(path).is_absolute()) {
        return Ok(Path::new(&user_cache).join("kollect/testenv"));
    }
    let Some(home) = home else {
        bail!("there is no place for the servers: set HOME or KOLLECT_TEST_CACHE");
    };
    Ok(Path::new(&home).join(".cache/kollect/testenv"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(test_cache: Option<&str>, user_cache: Option<&str>, expected: &str) {
        let settings = Settings {
            test_cache: test_cache.map(str::to_owned),
            user_cache: user_cache.map(str::to_owned),
            home: Some("/home/ada".to_owned()),
        };
        assert_eq!(directory(settings).unwrap(), Path::new(expected));
    }

    #[test]
    fn our_own_setting_wins() {
        check(Some("/fast/servers"), Some("/cache"), "/fast/servers");
    }

    #[test]
    fn the_cache_of_the_user_comes_next() {
        check(None, Some("/cache"), "/cache/kollect/testenv");
    }

    #[test]
    fn otherwise_it_is_the_usual_place_in_the_home_directory() {
        check(None, None, "/home/ada/.cache/kollect/testenv");
        check(None, Some("relative"), "/home/ada/.cache/kollect/testenv");
    }

    #[test]
    fn without_any_of_them_it_says_what_to_set() {
        let error = directory(Settings::default()).unwrap_err().to_string();
        assert!(error.contains("set HOME or KOLLECT_TEST_CACHE"), "{error}");
    }
}
