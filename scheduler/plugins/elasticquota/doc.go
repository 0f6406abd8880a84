// Package elasticquota is the scheduler plugin that admits pods into their ElasticQuota. The decisions are those of
// decision/scheduling/quota; this package reads the state, applies them, preempts within a quota, and says when a refused pod is worth
// another attempt.
//
// A pod that fits is skipped: no node is asked about it. A pod that does not fit is refused for all nodes at once, and what
// it was judged by stays in the cycle's state, where a dry run of preemption takes pods away from it.
package elasticquota
