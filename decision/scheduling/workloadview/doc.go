// Package workloadview says whether a workload, such as a Deployment, has the pods that it wants, and what keeps those that it lacks: that they
// cannot be created, or what keeps them from getting a node, such as their ElasticQuota.
package workloadview
