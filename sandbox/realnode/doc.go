// Package realnode makes this machine a node of a sandbox: containerd and kubelet run as root, as children of the sandbox's
// supervisor, and the pods that are bound to the node really run. It needs Linux.
//
// Everything the node is made of lies in one directory of the sandbox, in one cgroup and behind one bridge, each named after
// the sandbox. containerd and kubelet run in a separate mount namespace: no mount of theirs is ever seen outside of it, and
// where they insist on a path or a kernel setting of the machine, they find a file of the sandbox's there instead. What is left
// is therefore undone by ending processes, removing cgroups and the bridge, and deleting the directory, which Clean does after
// a crash as well.
package realnode
