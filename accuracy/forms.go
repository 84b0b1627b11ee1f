package main

// forms are programs of forms that nothing in whatif was made with regard to: they were written when it could do the
// suite, and are measured to know how far that carries.
func forms() []program {
	group := []program{
		{name: "sem_buffer", kind: ordinary, model: []float64{25, 40, 40, 40}},
		{name: "event_pair", kind: ordinary, model: []float64{12.5, 25, 37.5, 50}},
		{name: "adaptive_mutex", kind: ordinary, model: []float64{7, 14, 21, 29}},
		{name: "mutex_fine", kind: ordinary},
		{name: "ticket_lock", kind: spinning, model: []float64{22, 35, 47, 60}},
		{name: "spin_ring", kind: spinning, model: []float64{25, 25, 25, 25}},
		{name: "spin_phases", kind: spinning, model: []float64{10, 20, 20, 20}},
		{name: "barrier_four", kind: ordinary, model: []float64{7.5, 15, 22.5, 30}},
		{name: "convoy", kind: ordinary},
		{name: "pipe_chain", kind: ordinary, model: []float64{12.5, 25, 37.5, 50}},
		{name: "prefork", kind: ordinary, model: []float64{12.5, 25, 37.5, 50}},
		{name: "two_locks", kind: ordinary, model: []float64{12.5, 25, 37.5, 50}},
		{name: "task_pool", source: "task_pool.cc", kind: ordinary, model: []float64{12.5, 25, 37.5, 50}},
		{name: "go_fork", source: "go_fork/main.go", point: "main.progressDone", kind: ordinary, model: []float64{12.5, 25, 37.5, 50}},
		{name: "go_select", source: "go_select/main.go", point: "main.progressDone", kind: ordinary, model: []float64{4, 8, 12.5, 17}},
		{name: "go_workers", source: "go_workers/main.go", point: "main.progressDone", kind: ordinary, model: []float64{12.5, 25, 37.5, 50}},
		{name: "rt_share", kind: ordinary, model: []float64{6, 12.5, 19, 25}},
		{name: "signal_pair", kind: ordinary, model: []float64{10, 20, 30, 40}},
		{name: "message_queue", kind: ordinary, model: []float64{25, 37.5, 37.5, 37.5}},
		{name: "big_lock", kind: ordinary},
		{name: "stop_world", kind: ordinary, model: []float64{10, 20, 30, 40}},
		{name: "work_steal", kind: ordinary, model: []float64{6, 12.5, 19, 25}},
		{name: "omp_tasks", flags: []string{"-fopenmp"}, kind: ordinary, model: []float64{11, 22, 33, 43}},
		{name: "job_slots", kind: ordinary, model: []float64{11, 22, 34, 45}},
		{name: "shards", kind: ordinary, model: []float64{12.5, 25, 37.5, 50}},
		{name: "batcher", kind: ordinary},
		{name: "pi_lock", kind: ordinary},
		{name: "spin_lock", kind: spinning, model: []float64{10, 20, 30, 40}},
		{name: "yield_lock", kind: spinning},
		{name: "pipe_bytes", kind: ordinary, model: []float64{25, 37.5, 37.5, 37.5}},
		{name: "fork_join", source: "fork_join.cc", kind: ordinary},
		{name: "coroutines", kind: ordinary, model: []float64{8, 17, 25, 33}},
		{name: "python_threads", config: []string{"/usr/bin/python3-config", "--embed", "--includes", "--ldflags"}, kind: ordinary},
		{name: "timed_jobs", kind: ordinary, model: []float64{0, 0, 0, 0}},
		{name: "timed_jobs_by_clock", source: "timed_jobs.c", defines: []string{"BY_CLOCK"}, kind: ordinary, model: []float64{0, 0, 0, 0}},
		{name: "frame_loop", kind: ordinary, model: []float64{0, 0, 0, 0}},
		{name: "atomic_wait", source: "atomic_wait.cc", kind: ordinary, model: []float64{25, 37.5, 37.5, 37.5}},
		{name: "cpp_async", source: "cpp_async.cc", kind: ordinary, model: []float64{25, 40, 40, 40}},
		{name: "shm_cond", kind: ordinary, model: []float64{25, 40, 40, 40}},
		{name: "tcp_threads", kind: ordinary, model: []float64{14, 29, 43, 57}},
		{name: "make_jobs", kind: ordinary, model: []float64{12, 24, 36, 48}},
		{name: "try_lock", kind: ordinary},
		{name: "lock_mixed", kind: ordinary},
		{name: "crowd_lock", kind: ordinary},
		{name: "lookout", kind: waiting},
		{name: "seqlock", kind: spinning, model: []float64{8, 17, 25, 33}},
		{name: "unequal_turns", kind: ordinary, model: []float64{24, 48, 71, 95}},
		{name: "go_group", source: "go_group/main.go", point: "main.progressDone", kind: ordinary, model: []float64{12.5, 25, 37.5, 50}},
		{name: "go_garbage", source: "go_garbage/main.go", point: "main.progressDone", kind: ordinary},
		{name: "rust_condvar", source: "rust_condvar.rs", kind: ordinary, model: []float64{10, 20, 30, 40}},
		{name: "rust_mpsc", source: "rust_mpsc.rs", kind: ordinary, model: []float64{20, 33, 46, 58}},
		{name: "go_cond", source: "go_cond/main.go", point: "main.progressDone", kind: ordinary, model: []float64{25, 40, 40, 40}},
		{name: "go_rwmutex", source: "go_rwmutex/main.go", point: "main.progressDone", kind: ordinary},
		{name: "go_tcp", source: "go_tcp/main.go", point: "main.progressDone", kind: ordinary, model: []float64{12.5, 25, 37.5, 50}},
		{name: "rust_barrier", source: "rust_barrier.rs", kind: ordinary, model: []float64{8, 17, 25, 33}},
		{name: "cpp_latch", source: "cpp_latch.cc", kind: ordinary},
		{name: "block_filter", kind: ordinary},
		{name: "wavefront", kind: ordinary},
		{name: "async_log", kind: ordinary},
		{name: "map_reduce", kind: ordinary, model: []float64{8, 17, 25, 33}},
		{name: "fan_in", kind: ordinary, model: []float64{5, 11, 16, 21}},
		{name: "spin_park", kind: spinning, model: []float64{12.5, 12.5, 12.5, 12.5}},
		{name: "lock_light", kind: ordinary},
		{name: "idle_loop", kind: ordinary, model: []float64{17, 33, 50, 67}},
		{name: "idle_loop_often", source: "idle_loop.c", defines: []string{"OFTEN"}, kind: ordinary, model: []float64{17, 33, 50, 67}},
		{name: "rust_scope", source: "rust_scope.rs", kind: ordinary, model: []float64{8, 17, 25, 33}},
	}
	for i := range group {
		p := &group[i]
		if p.source == "" {
			p.source = p.name + ".c"
		}
		p.group, p.source = "forms", "forms/"+p.source
	}
	return group
}
