package qos

import (
	"maps"
	"path"
	"time"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/agent/host/blockdevice"
	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/agent/state"
)

// claims are the disks of a pod's volumes, by the names of the volumes in the pod and of their claims.
type claims struct {
	at    time.Time
	disks map[string]string
}

// volumesOf are the disks of a pod's volumes by all of their names: that in the pod goes before that of the claim, and this one before
// that of the PersistentVolume. A name is no secret, and a disk is what a container of the pod has mounted at the volume's path, so
// that no API is asked for claims.
func (b *BlkIOReconcile) volumesOf(in NodeSnapshot, pod *state.Pod, known *claims) map[string]string {
	if known == nil || in.Now.Sub(known.at) >= deviceListInterval || in.Now.Before(known.at) || len(known.disks) == 0 && in.Now.Sub(known.at) >= relist {
		known = &claims{at: in.Now, disks: claimedDisks(in, pod, b.devices)}
	}
	b.claims[pod.UID] = known
	out := maps.Clone(b.volumes[pod.UID])
	if out == nil {
		return known.disks
	}
	maps.Copy(out, known.disks)
	return out
}

// claimedDisks looks at what containers of a pod have mounted. Volumes that no container mounts, or that lie on no block device, are
// left out.
func claimedDisks(in NodeSnapshot, pod *state.Pod, devices blockdevice.Devices) map[string]string {
	claimOf := map[string]string{}
	for i := range pod.Object.Spec.Volumes {
		if volume := &pod.Object.Spec.Volumes[i]; volume.PersistentVolumeClaim != nil {
			claimOf[volume.Name] = volume.PersistentVolumeClaim.ClaimName
		}
	}
	byName, byClaim := map[string]string{}, map[string]string{}
	for _, container := range in.Containers.Of(pod, in.Now) {
		paths := mountPaths(pod, container.Name)
		if len(paths) == 0 {
			continue
		}
		mounts := mountsOf(in, container, devices)
		for volume, path := range paths {
			if disk, found := mounts[path]; found && claimOf[volume] != "" {
				byName[volume], byClaim[claimOf[volume]] = disk, disk
			}
		}
	}
	maps.Copy(byClaim, byName)
	return byClaim
}

// mountPaths says where a container has volumes, by the names of these.
func mountPaths(pod *state.Pod, container string) map[string]string {
	spec, out := &pod.Object.Spec, map[string]string{}
	for _, containers := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
		for i := range containers {
			if containers[i].Name != container {
				continue
			}
			for _, mount := range containers[i].VolumeMounts {
				out[mount.Name] = path.Clean(mount.MountPath)
			}
		}
	}
	return out
}

// mountsOf returns what the first process of a container has mounted. A process that has ended, and whose number was reused, is
// ignored.
func mountsOf(in NodeSnapshot, container Container, devices blockdevice.Devices) map[string]string {
	for _, process := range Tasks(in.Tree, in.Layout, cgroup.Processes, container.Cgroup) {
		mounts, err := devices.Mounts(in.Proc, process)
		if err == nil && Within(in.Proc, process, container.Cgroup) {
			return mounts
		}
	}
	return nil
}
