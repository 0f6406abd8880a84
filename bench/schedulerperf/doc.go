// Package schedulerperf measures koord-scheduler's plugins with scheduler_perf, the benchmark of Kubernetes' own scheduler:
// an API server, the scheduler and the workload in one process, and an etcd beside them. workloads.yaml says what is run and
// keeps a threshold for every workload; a workload that is slower fails. So does one that ends with a cluster that must not
// be: room given away twice, pods on overloaded nodes, pods that own no CPUs though they asked for them.
//
//	make bench-schedulerperf                      # all, at full size
//	make bench-schedulerperf BENCH_FLAGS=-short   # small ones, within two minutes
//
// The scheduler is made by scheduler_perf from the shipped profile, scheduler/app/default.yaml; app.Embedded gives it what
// koord-scheduler has besides plugins. NodeMetrics are reported for every node, once a minute.
package schedulerperf
