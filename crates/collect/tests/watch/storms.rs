//! Everything at once, and ends at any moment.

use kollect_sandbox::{Cut, Fault, On, Sandbox};

use super::support::{NAMESPACES, Scene, delete, millis, put, sandbox, widgets};

/// Numbers that are the same in every run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % sides as u64).unwrap_or_default()
    }

    fn of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }
}

/// Something changes in the cluster.
fn change(sandbox: &Sandbox, dice: &mut Dice) {
    let before = sandbox.version();
    while sandbox.version() == before {
        let namespace = dice.of(&NAMESPACES);
        let name = format!("w{}", dice.below(12));
        if dice.below(3) == 0 {
            delete(sandbox, namespace, &name);
        } else {
            put(sandbox, namespace, &name, dice.of(&["red", "blue", "green", ""]));
        }
    }
}

/// Something goes wrong with the server.
fn spoil(sandbox: &Sandbox, dice: &mut Dice, faults: usize) {
    let events = dice.below(4);
    let how = dice.of(&[Cut::End, Cut::Close, Cut::Reset]);
    let fault = match dice.below(faults) {
        0 => Fault::CutAfterEvents { events, how },
        1 => Fault::HalfAnEventAfterEvents { events, how },
        2 => Fault::SilenceAfterEvents(events),
        3 => Fault::ErrorAfterEvents { events, code: dice.of(&[410, 500, 503]) },
        4 => Fault::BytesAfterEvents { events, bytes: b"{\"type\":\"AD\n".to_vec() },
        5 => Fault::ExpireWatch,
        6 => Fault::Status(dice.of(&[401, 403, 410, 500, 503])),
        7 => Fault::Refuse,
        8 => Fault::CutAfterBytes { bytes: 1 + dice.below(600), how },
        // After one of these, lists come in pages only.
        9 => Fault::WithholdBookmarks,
        _ => Fault::RefuseWatchList,
    };
    sandbox.inject(On::watch("widgets").nth(1), fault);
    match dice.below(6) {
        0 => sandbox.compact(),
        1 => {
            sandbox.inject(On::list("widgets").nth(1), Fault::Status(dice.of(&[403, 500])));
        }
        2 => {
            sandbox.inject(On::list("widgets").nth(1), Fault::CutAfterBytes { bytes: 90, how });
        }
        _ => {}
    }
    // Ends the watch that is open.
    sandbox.define(widgets());
}

#[tokio::test]
async fn after_a_storm_the_rows_are_those_of_a_fresh_list() {
    for seed in 1..=8 {
        let sandbox = sandbox();
        let mut dice = Dice(seed * 0x9e37_79b9);
        let faults = if seed % 2 == 0 { 9 } else { 11 };
        let mut scene = Scene::of(&sandbox.url()).await;
        scene.pace.silence = millis(200);
        scene
            .follows(async {
                for _ in 0..60 {
                    for _ in 0..dice.below(6) {
                        change(&sandbox, &mut dice);
                    }
                    if dice.below(3) == 0 {
                        spoil(&sandbox, &mut dice, faults);
                    }
                    // Lets the watch get somewhere; how far does not matter.
                    tokio::time::sleep(millis(dice.below(12) as u64)).await;
                }
                sandbox.lift_all();
                scene.is_like_a_fresh_list().await;
                scene.until(|| scene.is_covered()).await;
            })
            .await;
        assert_eq!(scene.rows(), scene.fresh().await, "seed {seed}: {:?}", scene.heard());
    }
}

#[tokio::test]
async fn killing_a_watch_at_any_moment_never_loses_or_resurrects_a_row() {
    for refuses in [false, true] {
        let sandbox = sandbox();
        if refuses {
            sandbox.inject(On::watch("widgets"), Fault::RefuseWatchList);
        }
        put(&sandbox, "shop", "steady", "red");
        let scene = Scene::of(&sandbox.url()).await;
        scene.follows(scene.hears("end", 1)).await;
        let mut dice = Dice(7);
        for moment in 0..30 {
            let before = scene.heard().len();
            scene
                .follows(async {
                    let heard = || scene.heard().len() - before;
                    while heard() < moment {
                        change(&sandbox, &mut dice);
                        let so_far = heard();
                        scene.until(|| heard() > so_far || heard() >= moment).await;
                        assert!(scene.rows().contains(&"shop/steady: red".to_owned()));
                    }
                })
                .await;
        }
        delete(&sandbox, "mall", "w1");
        put(&sandbox, "mall", "w2", "red");
        let fresh = scene.fresh().await;
        let ends = scene.count("end");
        scene
            .follows(async {
                scene.hears("end", ends + 1).await;
                scene.until(|| scene.rows() == fresh).await;
            })
            .await;
        assert!(scene.is_covered());
    }
}
