// Each rule of the verifiers about programs has a case that breaks it alone.
// RUN: plim-opt %s -split-input-file -verify-diagnostics -allow-unregistered-dialect

plan.module {
  // expected-error @below {{io 'x': need a buffer in ram}}
  plan.program @p virtual io(in %x "x" f32[1] : <gpu, 4>) {
    plan.return
  }
}

// -----

plan.module {
  // expected-error @below {{io 'x': need 8 bytes for its shape, have 4}}
  plan.program @p virtual io(in %x "x" f32[2] : <ram, 4>) {
    plan.return
  }
}

// -----

plan.module {
  // expected-error @below {{io 'x': need a symbol for each scalar of its shape}}
  plan.program @p virtual io(in %x "x" f32[s0 max 2] : <ram, 8>) {
    plan.return
  }
}

// -----

plan.module {
  // expected-error @below {{io 'x': need a contiguous shape in row layout}}
  plan.program @p virtual io(in %x "x" f32[2] strides [2] : <ram, 12>) {
    plan.return
  }
}

// -----

plan.module {
  // expected-error @below {{need a name that ends with '.v', the variant}}
  plan.program @p virtual io(out %y "y" f32[16] : <ram, 64>) attributes {variant = "v"} {
    plan.return
  }
}

// -----

plan.module {
  // expected-error @below {{need plan.return at the end}}
  plan.program @p virtual io() {
    %a = plan.alloc : <4>
  }
}

// -----

plan.module {
  plan.program @p virtual io(out %y "y" f32[16] : <ram, 64>) {
    // expected-error @below {{need operations of the plan dialect in a program}}
    %c = arith.constant 0 : index
    plan.return
  }
}

// -----

plan.module {
  plan.program @p virtual io(out %y "y" f32[16] : <ram, 64>) {
    // expected-error @below {{need a plan.wait for its token in the same region}}
    %t = plan.fill %y with 0 : <ram, 64> -> !plan.token
    plan.return
  }
}

// -----

plan.module {
  plan.program @p virtual symbols(%n "N" in [0, 1]) io(out %y "y" f32[16] : <ram, 64>) {
    // expected-error @below {{need a plan.wait for its token in the same region}}
    %t = plan.fill %y with 0 : <ram, 64> -> !plan.token
    plan.if %n {
      plan.wait %t
    }
    plan.return
  }
}

// -----

plan.module {
  plan.constant @w f32[1] bytes 4 at 0
  plan.program @p virtual io(out %y "y" f32[16] : <ram, 64>) {
    %a = plan.resident @w : <4>
    // expected-error @below {{need one home for @w in a program}}
    %b = plan.resident @w : <4>
    plan.return
  }
}

// -----

plan.module {
  plan.program @p virtual io(out %y "y" f32[16] : <ram, 64>) {
    // expected-error @below {{need a source for a launch with an instance number}}
    plan.launch "k"(w %y f32[1] : <ram, 64>) pure instance 1
    plan.return
  }
}

// -----

plan.module {
  plan.program @p virtual io(out %y "y" f32[16] : <ram, 64>) {
    // expected-error @below {{need pure for a launch with an instance number}}
    plan.launch "k"(w %y f32[1] : <ram, 64>) instance 1 from "n"
    plan.return
  }
}

// -----

plan.module {
  plan.program @p virtual io(out %y "y" f32[16] : <ram, 64>) {
    plan.launch "k"(w %y f32[1] : <ram, 64>) pure instance 1 from "n"
    // expected-error @below {{need an instance number of its own among the clones of "n", have 1}}
    plan.launch "k"(w %y f32[1] : <ram, 64>) pure instance 1 from "n"
    plan.return
  }
}

// -----

plan.module {
  plan.state @s f32[1] bytes 4
  plan.program @p virtual io(out %y "y" f32[16] : <ram, 64>) {
    %s = plan.resident @s : <4>
    plan.launch "k"(r %s f32[1] : <4>, w %y f32[1] : <ram, 64>) pure from "n"
    plan.fill %s with 0 : <4>
    // expected-error @below {{need the version of state @s that instance 0 reads; step 1 writes it between}}
    plan.launch "k"(r %s f32[1] : <4>, w %y f32[1] : <ram, 64>) pure instance 1 from "n"
    plan.return
  }
}

// -----

plan.module {
  plan.state @s f32[1] bytes 4
  // expected-error @below {{need no write of a state before step 1 (commit), have one at step 0}}
  plan.program @p virtual io(out %y "y" f32[16] : <ram, 64>) attributes {commit = 1} {
    %s = plan.resident @s : <4>
    plan.fill %s with 0 : <4>
    plan.return
  }
}

// -----

plan.module {
  // expected-error @below {{need no commit in a program that writes no state}}
  plan.program @p virtual io(out %y "y" f32[16] : <ram, 64>) attributes {commit = 1} {
    plan.return
  }
}
