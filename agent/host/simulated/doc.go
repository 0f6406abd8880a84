// Package simulated is a machine that exists only as arithmetic. What a pod uses is a pure function of a seed, the pod's name and
// simulated time, so that a run can be repeated and any moment of the past can be asked for; counters are the integral of it. Pods of
// services follow the day or a recorded trace, memory grows to a plateau, and batch pods take what is left: the machine never uses more
// than it has, because pods of lower priority are throttled first.
package simulated
