// Package frameworkext is where koord-scheduler reaches into kube-scheduler beyond its plugin API; no other package replaces a
// part of a scheduler. In the order of installation: ObserveLock and Fence let a process write only while it leads,
// ShareInformers feeds the queue from the informers of the plugins, and Install extends the profiles, the failure handler, the
// queue, NextPod and the cache.
//
// An extended profile shows nodes on which a pod has room reserved without what holds that room, tries nodes that a plugin
// proposes before all others, places equal pods without a search for each, and has every attempt recorded.
package frameworkext
