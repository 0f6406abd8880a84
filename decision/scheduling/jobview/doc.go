// Package jobview says what keeps a Job from running: Kueue, which does not admit it, or what keeps its pods from getting a node, such as
// their ElasticQuota. Both are asked in the order in which the Job meets them.
package jobview
