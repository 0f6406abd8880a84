package cgroup

import (
	"fmt"
	"path"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/api/extension"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
)

// Where applications outside of Kubernetes are that do not say where they are.
const (
	hostLatencySensitive = "host-latency-sensitive"
	hostBestEffort       = "host-best-effort"
)

// HostApplication returns the cgroup of a host application outside Kubernetes. An application without a path has a cgroup with its
// name, below that of best-effort pods for class BE, and at the top for any other. An error says that the path leads out of its base,
// or is none.
func (l Layout) HostApplication(application *slov1alpha1.HostApplicationSpec) (string, error) {
	at := application.CgroupPath
	if at == nil {
		at = &slov1alpha1.CgroupPath{Base: slov1alpha1.CgroupBaseTypeRoot, ParentDir: hostLatencySensitive, RelativePath: application.Name}
		if application.QoS == extension.QoSBE {
			at.Base, at.ParentDir = slov1alpha1.CgroupBaseTypeKubeBesteffort, hostBestEffort
		}
	}
	base, known := l.base(at.Base)
	within := path.Join(at.ParentDir, at.RelativePath)
	switch {
	case !known:
		return "", fmt.Errorf("application %.64q: no cgroup is called %.64q", application.Name, at.Base)
	case within == "" || within == "." || strings.ContainsRune(within, 0):
		return "", fmt.Errorf("application %.64q: it has no cgroup below %.64q", application.Name, at.Base)
	case within == ".." || strings.HasPrefix(within, "../"):
		return "", fmt.Errorf("application %.64q: its cgroup %.64q is outside %.64q", application.Name, within, at.Base)
	}
	return strings.TrimPrefix(path.Join(base, within), "/"), nil
}

// base returns the cgroup that a path begins at.
func (l Layout) base(of slov1alpha1.CgroupBaseType) (string, bool) {
	switch of {
	case slov1alpha1.CgroupBaseTypeRoot, "":
		return "", true
	case slov1alpha1.CgroupBaseTypeKubepods:
		return l.QoS(corev1.PodQOSGuaranteed), true
	case slov1alpha1.CgroupBaseTypeKubeBurstable:
		return l.QoS(corev1.PodQOSBurstable), true
	case slov1alpha1.CgroupBaseTypeKubeBesteffort:
		return l.QoS(corev1.PodQOSBestEffort), true
	}
	return "", false
}
