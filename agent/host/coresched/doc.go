// Package coresched gives processes cookies for core scheduling: the kernel lets two threads run on one physical core at the same
// time only when their cookies are equal. Cookies are made, copied and read by prctl(PR_SCHED_CORE).
package coresched
