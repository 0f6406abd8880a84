package cgroup

import (
	"fmt"
	"path"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// Foreign returns the cgroup of a container that another scheduler runs among best-effort pods. An error says that the path is not
// below the cgroup of best-effort pods, or in that of a pod.
func (l Layout) Foreign(directory string) (string, error) {
	root := l.QoS(corev1.PodQOSBestEffort)
	at := strings.TrimPrefix(path.Clean("/"+directory), "/")
	within, isBelow := strings.CutPrefix(at, root+"/")
	switch {
	case strings.ContainsRune(directory, 0) || strings.TrimPrefix(strings.TrimSuffix(directory, "/"), "/") != at:
		return "", fmt.Errorf("cgroup %.128q is not a clean path", directory)
	case !isBelow:
		return "", fmt.Errorf("cgroup %.128q is not below %s", directory, root)
	}
	first, _, _ := strings.Cut(within, "/")
	if _, isPod := l.PodOf(first); isPod {
		return "", fmt.Errorf("cgroup %.128q is in that of a pod", directory)
	}
	return at, nil
}

// HadoopYARN returns the cgroup above YARN's containers, by its usual name.
func (l Layout) HadoopYARN() string { return path.Join(l.QoS(corev1.PodQOSBestEffort), "hadoop-yarn") }
