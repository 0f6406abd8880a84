package realnode

import (
	"context"
	"fmt"
	"path"
	"strconv"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/agent/host/files"
	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/test/sandboxtest"
)

// kernel is what the kernel says of the node's cgroups.
type kernel struct {
	tree   *files.Real
	layout cgroup.Layout
}

// kernel opens the cgroups of the sandbox's node.
func (r *rig) kernel(t *testing.T) *kernel {
	t.Helper()
	tree, err := files.NewReal("/sys/fs/cgroup")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tree.Close() }) // nothing was written
	layout, err := cgroup.Probe(tree, "koord-sandbox-"+r.Name)
	if err != nil {
		t.Fatal(err)
	}
	return &kernel{tree: tree, layout: layout}
}

// read a setting of a cgroup.
func (k *kernel) read(setting cgroup.Setting, at string) (string, error) {
	file, has := k.layout.Path(setting, at)
	if !has {
		return "", fmt.Errorf("cgroups of version %d have no %s", k.layout.Version, setting.Name)
	}
	content, err := k.tree.Read(file, nil)
	if err != nil {
		return "", err
	}
	return setting.Decode(k.layout.Version, string(content))
}

// readNamed reads one of the settings that the agent makes of pods in these tests.
func (k *kernel) readNamed(name, at string) (string, error) {
	for _, setting := range []cgroup.Setting{cgroup.CPUQuota, cgroup.CPUShares, cgroup.CPUIdle, cgroup.CPUSet, cgroup.MemoryLimit} {
		if setting.Name == name {
			return k.read(setting, at)
		}
	}
	return "", fmt.Errorf("the agent sets %q, which is not expected", name)
}

// agents is the layout as the agent sees it: the sandbox's cgroup is the root.
func (k *kernel) agents() cgroup.Layout {
	layout := k.layout
	layout.Parent = ""
	return layout
}

// quota is the file of all best-effort pods' quota, as the agent calls it.
func (k *kernel) quota() string {
	file, _ := k.agents().Path(cgroup.CPUQuota, k.agents().QoS(corev1.PodQOSBestEffort)) // both versions have it
	return file
}

// wantQuota waits for the quota of all best-effort pods together, in microseconds in a period.
func (k *kernel) wantQuota(t *testing.T, is func(int64) bool) {
	t.Helper()
	sandboxtest.Eventually(t, patience, func() error {
		value, err := k.read(cgroup.CPUQuota, k.layout.QoS(corev1.PodQOSBestEffort))
		if err != nil {
			return err
		}
		quota, err := strconv.ParseInt(value, 10, 64)
		if err == nil && !is(quota) {
			err = fmt.Errorf("%s is %d", k.quota(), quota)
		}
		return err
	})
}

// shares as they read back.
func (k *kernel) shares(value int64) string {
	text, _ := cgroup.CPUShares.Canonical(k.layout.Version, strconv.FormatInt(value, 10)) // it is a number
	return text
}

// whose a setting is: that of a container, of the pod, or of all best-effort pods together.
func (k *kernel) whose(s diagnosticsv1alpha1.CgroupSetting) string {
	switch {
	case s.Container != "":
		return s.Container
	case s.Cgroup == k.agents().QoS(corev1.PodQOSBestEffort):
		return "all pods"
	}
	return "the pod"
}

// processes are those in the cgroup of a container.
func (k *kernel) processes(at string) ([]int, error) {
	content, err := k.tree.Read(path.Join(k.layout.Directory(cgroup.CPUUsage, at), "cgroup.procs"), nil)
	if err != nil {
		return nil, err
	}
	var pids []int
	for field := range strings.FieldsSeq(string(content)) {
		pid, err := strconv.Atoi(field)
		if err != nil {
			return nil, err
		}
		pids = append(pids, pid)
	}
	return pids, nil
}

// wantSettings waits until all that is set for the batch pod is in force, also by what the kernel says, and among it some values, by
// their owner, name and whose they are; an empty value may be any.
func (r *rig) wantSettings(t *testing.T, k *kernel, want map[string]string) {
	t.Helper()
	sandboxtest.Eventually(t, patience, func() error {
		settings, err := r.settings(t.Context())
		if err != nil {
			return err
		}
		got := map[string]string{}
		for _, s := range settings {
			inForce, err := k.readNamed(s.Setting, path.Join(k.layout.Parent, s.Cgroup))
			if err != nil {
				return err
			}
			if !s.Matches || s.Effective != inForce {
				return fmt.Errorf("%+v; the kernel has %q", s, inForce)
			}
			got[fmt.Sprintf("%s %s of %s", s.Owner, s.Setting, k.whose(s))] = s.Desired
		}
		for key, value := range want {
			if found, is := got[key]; !is || value != "" && found != value {
				return fmt.Errorf("%s is %q, want %q; set are %v", key, found, value, got)
			}
		}
		return nil
	})
}

// settings are what the agent says is set for the batch pod.
func (r *rig) settings(ctx context.Context) ([]diagnosticsv1alpha1.CgroupSetting, error) {
	agent, err := r.ask(ctx, "explain", "qos", "pod", "batch")
	if err != nil {
		return nil, err
	}
	if len(agent.Pods) != 1 || agent.Pods[0].Name != "batch" || agent.Pods[0].QoSClass != "BE" {
		return nil, fmt.Errorf("the agent tells of pods %+v, want batch", agent.Pods)
	}
	return agent.Pods[0].Settings, nil
}
