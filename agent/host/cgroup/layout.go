package cgroup

import (
	"path"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Version of the kernel's interface.
type Version int

// The versions.
const (
	V1 Version = 1
	V2 Version = 2
)

// Driver is how kubelet names cgroups.
type Driver string

// The drivers.
const (
	Cgroupfs Driver = "cgroupfs"
	Systemd  Driver = "systemd"
)

// Layout is where kubelet and the runtime put cgroups. All paths are relative to a hierarchy.
type Layout struct {
	Version Version
	Driver  Driver
	// Parent is the cgroup that kubelet makes its own in, "" for the root: kubelet's --cgroup-root.
	Parent string
}

// Kubepods returns the cgroup of all pods.
func (l Layout) Kubepods() string {
	if l.Driver == Systemd {
		return path.Join(l.Parent, "kubepods.slice")
	}
	return path.Join(l.Parent, "kubepods")
}

// QoS returns the cgroup above the pods of a class: guaranteed pods are directly in Kubepods.
func (l Layout) QoS(class corev1.PodQOSClass) string {
	if class == corev1.PodQOSGuaranteed || class == "" {
		return l.Kubepods()
	}
	name := strings.ToLower(string(class))
	if l.Driver == Systemd {
		return path.Join(l.Kubepods(), "kubepods-"+name+".slice")
	}
	return path.Join(l.Kubepods(), name)
}

// Pod returns the cgroup of a pod. The UID of a static pod is the hash in its annotation, see extension. Whatever the UID is, the
// cgroup is one directly below that of the class: what cannot be in a name is written as an underscore, and then there is none.
func (l Layout) Pod(class corev1.PodQOSClass, uid types.UID) string {
	above := l.QoS(class)
	uid = types.UID(separators.Replace(string(uid)))
	if l.Driver == Systemd {
		return path.Join(above, strings.TrimSuffix(path.Base(above), ".slice")+"-pod"+strings.ReplaceAll(string(uid), "-", "_")+".slice")
	}
	return path.Join(above, "pod"+string(uid))
}

// separators are what a name in a path cannot have.
var separators = strings.NewReplacer("/", "_", "\x00", "_")

// PodOf returns the UID of the pod whose cgroup has a name; false for any other cgroup.
func (l Layout) PodOf(name string) (types.UID, bool) {
	if l.Driver == Systemd {
		name, isSlice := strings.CutSuffix(name, ".slice")
		_, uid, found := strings.Cut(name, "-pod")
		if !isSlice || !found || uid == "" || !strings.HasPrefix(name, "kubepods") {
			return "", false
		}
		return types.UID(strings.ReplaceAll(uid, "_", "-")), true
	}
	uid, found := strings.CutPrefix(name, "pod")
	return types.UID(uid), found && uid != ""
}

// runtimes are the prefixes that runtimes put before the ID of a container.
var runtimes = []string{"cri-containerd-", "crio-", "docker-"}

// ContainerOf returns the ID of the container whose cgroup has a name; false for any other cgroup. CRI-O's monitors have their own
// cgroups, which are not containers.
func (l Layout) ContainerOf(name string) (string, bool) {
	scope, isScope := strings.CutSuffix(name, ".scope")
	if l.Driver == Systemd && !isScope {
		return "", false
	}
	if l.Driver == Systemd {
		name = scope
	}
	for _, runtime := range runtimes {
		if id, found := strings.CutPrefix(name, runtime); found {
			name = id
			break
		}
	}
	return name, isHex(name)
}

// isHex is true for the 64 digits that name a container.
func isHex(id string) bool {
	for _, c := range id {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return len(id) == 64
}
