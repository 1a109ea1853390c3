//! Stages that are held while the memory for artifacts is scarce.

use super::script::check;

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
