//! Stages that are held while the memory for artifacts is scarce.

use assay_sched::{BatchView, HeldView};

use super::script::{Player, check, tenant};

/// Later stages run, and those of other tenants and of batches with one stage; a try without room for its artifact does not
/// count.
#[test]
fn first_stages_wait_while_they_are_held() {
    check(
        "
0ms announce A stages=cpu:1s,gpu:1s size=3
0ms announce B stages=cpu:1s size=1
0ms announce C stages=cpu:1s,gpu:1s size=1 tenant=2
0ms join w1 cpu
0ms submit A 0 1 2
  -> estimate A 2000ms
  -> grant w1 L1 A.0 stage 0 try 1
1ms hold 1
1ms finish w1 next 1ms
  -> advance A.0 [0: queued 0ms ran 1ms tries 1]
  -> estimate A 1001ms
1ms submit B 0
  -> estimate B 2ms
  -> grant w1 L2 B.0 stage 0 try 1
1ms submit C 0
  -> estimate C 1002ms
2ms finish w1 scored 1ms
  -> finish B.0 scored t=2ms [0: queued 0ms ran 1ms tries 1]
  -> batch B done T=2ms ended=2ms
  -> grant w1 L3 C.0 stage 0 try 1
3ms finish w1 next 1ms
  -> advance C.0 [0: queued 1ms ran 1ms tries 1]
4ms join w2 gpu
  -> grant w2 L4 A.0 stage 1 try 1
5ms finish w2 scored 1ms
  -> finish A.0 scored t=2ms [0: queued 0ms ran 1ms tries 1] [1: queued 3ms ran 1ms tries 1]
  -> estimate A 2ms
  -> estimate C 3ms
  -> grant w2 L5 C.0 stage 1 try 1
6ms unhold 1
  -> grant w1 L6 A.1 stage 0 try 1
7ms finish w1 no_room 1ms
  -> grant w1 L7 A.1 stage 0 try 1
",
    );
}

/// Held requests are counted apart, as they need no worker; they are counted as waiting from their release on.
#[test]
fn a_plan_is_made_anew_when_stages_are_held_and_released() {
    let mut player = Player::default();
    player.play("config plans=shown");
    player.play("0ms announce A stages=cpu:1s,gpu:1s size=3");
    player.play("0ms submit A 0 1");
    let counts = |player: &mut Player| {
        let seen = player.sched().view();
        let stage = &seen.batches[0].at_stage[0];
        let held = seen.held.get(&tenant("1")).map(|HeldView { requests, .. }| *requests);
        (stage.waiting, stage.held, held)
    };
    assert_eq!(counts(&mut player), (2, 0, None));
    assert_eq!(player.play("1ms hold 1"), ["plan anew"]);
    assert_eq!(counts(&mut player), (0, 2, Some(2)));
    assert!(player.play("2ms hold 1").is_empty(), "they are held already");
    player.play("3ms submit A 2");
    assert_eq!(counts(&mut player), (0, 3, Some(3)));
    assert_eq!(player.play("4ms unhold 1"), ["plan anew"]);
    assert_eq!(counts(&mut player), (3, 0, None));
}

/// Later stages wait as well where they need memory; a last stage needs none.
#[test]
fn all_stages_but_the_last_wait_while_they_are_held() {
    let mut player = Player::default();
    let mut grants = |line: &str| {
        let played = player.play(line).into_iter();
        let grants: Vec<String> = played.filter(|action| action.starts_with("grant")).collect();
        let seen = player.sched().view();
        let held = |batch: &BatchView| -> Vec<usize> {
            batch.at_stage.iter().map(|stage| stage.held).collect()
        };
        let held = seen.batches.first().map_or(vec![0; 3], held);
        (grants.join("; "), held, player.sched().has_last_stages(tenant("1")))
    };
    let mut check = |line: &str, granted: &str, held: [usize; 3], has_last: bool| {
        assert_eq!(grants(line), (granted.to_owned(), held.to_vec(), has_last), "{line}");
    };
    check("0ms announce A stages=cpu:1s,gpu:1s,cpu:1s size=3", "", [0, 0, 0], false);
    check("0ms submit A 0 1 2", "", [0, 0, 0], false);
    check("0ms join w1 cpu", "grant w1 L1 A.0 stage 0 try 1", [0, 0, 0], false);
    check("1ms finish w1 next 1ms", "grant w1 L2 A.1 stage 0 try 1", [0, 0, 0], false);
    check("2ms hold 1 all", "", [1, 1, 0], false);
    check("3ms finish w1 next 1ms", "", [1, 2, 0], false);
    check("4ms join w2 gpu", "", [1, 2, 0], false);
    // First stages alone are held now.
    check("5ms hold 1", "grant w2 L3 A.0 stage 1 try 1", [1, 0, 0], false);
    let both = "grant w1 L4 A.0 stage 2 try 1; grant w2 L5 A.1 stage 1 try 1";
    check("6ms finish w2 next 1ms", both, [1, 0, 0], true);
    check("7ms hold 1 all", "", [1, 0, 0], true);
    check("8ms finish w2 no_room 1ms", "", [1, 1, 0], true);
    check("9ms deadline A.1 90ms", "", [1, 1, 0], true);
    check("10ms finish w1 scored 1ms", "", [1, 1, 0], false);
    let all = "grant w1 L6 A.2 stage 0 try 1; grant w2 L7 A.1 stage 1 try 1";
    check("11ms unhold 1", all, [0, 0, 0], false);
    check("12ms hold 1 all", "", [0, 0, 0], false);
    check("13ms cancel A", "", [0, 0, 0], false);
}
