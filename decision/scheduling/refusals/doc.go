// Package refusals groups the reasons for which nodes are refused, and sums them up in a sentence like kube-scheduler's.
package refusals
