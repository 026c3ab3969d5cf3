// Each rule of the verifiers about the stages virtual and tiered has a case that breaks it alone.
// RUN: plim-opt %s -split-input-file -verify-diagnostics -allow-unregistered-dialect

// Stage virtual.
plan.module {
  plan.program @p virtual io(out %y "y" f32[16] : <ram, 64>) {
    // expected-error @below {{need a buffer without tier and offset in stage virtual}}
    %a = plan.alloc : <ram, 4>
    plan.return
  }
}

// -----

plan.module {
  plan.constant @w f32[1] bytes 4 at 0
  plan.program @p virtual io(out %y "y" f32[16] : <ram, 64>) {
    // expected-error @below {{need a resident without home in stage virtual}}
    %w = plan.resident @w in_file : <ssd, 4>
    plan.return
  }
}

// -----

plan.module {
  plan.program @p virtual io(out %y "y" f32[16] : <ram, 64>) {
    // expected-error @below {{need no workspace in stage virtual; a candidate states its bytes}}
    plan.launch "k"(w %y f32[1] : <ram, 64>) workspace(%y : !plan.buffer<ram, 64>)
    plan.return
  }
}

// -----

plan.module {
  plan.program @p virtual io(out %y "y" f32[16] : <ram, 64>) {
    // expected-error @below {{need no marks in stage virtual}}
    plan.mark birth %y : <ram, 64>
    plan.return
  }
}

// -----

plan.module {
  plan.arena @a transient : !plan.buffer<ram, 4096>
  plan.program @p virtual io(out %y "y" f32[16] : <ram, 64>) {
    // expected-error @below {{need no views of arenas in stage virtual}}
    %v = plan.view @a[0] : <ram, 64>
    plan.return
  }
}

// -----

// Stage tiered.
plan.module {
  plan.program @p tiered io(out %y "y" f32[16] : <ram, 64>) {
    // expected-error @below {{need a tier and a recorded offset in stage tiered}}
    %a = plan.alloc : <ram, 4>
    plan.return
  }
}

// -----

plan.module {
  plan.constant @w f32[1] bytes 4 at 0
  plan.program @p tiered io(out %y "y" f32[16] : <ram, 64>) {
    // expected-error @below {{need a home in stage tiered}}
    %w = plan.resident @w : <4>
    plan.return
  }
}

// -----

plan.module {
  plan.program @p tiered io(out %y "y" f32[16] : <ram, 64>) {
    // expected-error @below {{need one candidate in stage tiered, have 2}}
    plan.launch "k" | "m"(w %y f32[1] : <ram, 64>)
    plan.return
  }
}

// -----

plan.module {
  plan.program @p tiered io(out %y "y" f32[16] : <ram, 64>) {
    // expected-error @below {{need a workspace of 256 bytes (shared + min(workers, tasks) * scratch), have 0}}
    plan.launch "k"<tasks = 4, scratch = 64>(w %y f32[1] : <ram, 64>)
    plan.return
  }
}
