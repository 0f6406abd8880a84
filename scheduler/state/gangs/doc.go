// Package gangs is what the scheduler knows of gangs: the PodGroups, the pods that belong to each, and which of those have a
// node. There is one State in a scheduler; all profiles, the controller of PodGroup statuses and the explanations read it.
//
// What the cluster says comes from informers. What it does not say yet, which members wait for each other or are being bound,
// comes from the plugin, and is lost with the process: a restarted scheduler goes on from the members that are bound.
package gangs
