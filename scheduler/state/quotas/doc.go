// Package quotas is what the scheduler knows of elastic quotas: the ElasticQuota objects arranged in trees, which pod
// belongs to which quota, and what the pods of each ask for and use. There is one State in a scheduler; all profiles, the
// controllers and the explanations read it.
//
// Except for pods between Reserve and their binding, the state follows from the cluster alone: a restarted scheduler arrives at
// the same numbers, and pods keep counting when quotas are edited, moved or deleted, because trees are rebuilt from the objects
// and all pods are counted into them.
package quotas
