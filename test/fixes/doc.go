// Package fixes carries out what `koordctl explain pod` proposes, on a sandbox: each scene in testdata blocks a pod, and what is
// proposed for it is done as printed, by a shell with kubectl. What is explained and what the scheduler wrote to the pod agree.
package fixes
