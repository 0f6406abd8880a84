// Package terway tells Terway, the network of pods on Alibaba Cloud, what classes and pods may send and receive, by two files.
package terway

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"sync/atomic"

	"k8s.io/utils/clock"

	"koordinator.sh/koord/agent/audit"
	"koordinator.sh/koord/agent/executor"
	"koordinator.sh/koord/agent/qos"
	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/nodeqos/networkqos"
)

// Directory is where Terway looks.
const Directory = "/var/lib/terway/qos"

// The files, and who may read them.
const (
	podFile  = "pod.json"
	nodeFile = "global_bps_config"

	fileMode      = 0o644
	directoryMode = 0o755
)

// Options of a Keeper.
type Options struct {
	// Directory for the files; it is made when it does not exist.
	Directory string
	// CgroupRoot is where the cgroups of version 1 are mounted for Terway.
	CgroupRoot string
	// Held keeps whether the files are the agent's, and what they were before.
	Held  executor.Store
	Audit *audit.Log
	// Clock tells when something was written.
	Clock clock.PassiveClock
}

// Keeper implements qos.Keeper.
type Keeper struct {
	options Options
	// before is what was there before the agent, by file; nil for what was not. The map is nil while the agent holds nothing.
	before map[string]*string
	// told is true while both files say what they should.
	told atomic.Bool
}

var _ qos.Keeper = (*Keeper)(nil)

// New returns a Keeper that holds what the store says an earlier one did.
func New(options Options) (*Keeper, error) {
	k := &Keeper{options: options}
	if _, err := options.Held.Load(&k.before); err != nil {
		return nil, fmt.Errorf("remember what Terway was told before the agent: %w", err)
	}
	return k, nil
}

// Name implements qos.Keeper.
func (*Keeper) Name() string { return "TerwayQoS" }

// Keep implements qos.Keeper. Files that say what they should are not written.
func (k *Keeper) Keep(ctx context.Context, in qos.Situation) error {
	annotation := ""
	if in.Node != nil {
		annotation = in.Node.Annotations[extension.AnnotationNodeNetworkBandwidth]
	}
	total, _ := networkqos.TotalOf(in.SLO.SystemStrategy, annotation, 0)
	node, wanted := networkqos.TerwayOf(in.SLO.ResourceQOSStrategy, total)
	if !wanted {
		return k.Release(ctx)
	}
	pods, err := json.Marshal(k.pods(in, total))
	if err != nil {
		return fmt.Errorf("tell Terway of pods: %w", err)
	}
	if err := k.begin(); err != nil {
		return err
	}
	err = errors.Join(k.write(nodeFile, levels(node)), k.write(podFile, pods))
	k.told.Store(err == nil)
	return err
}

// Told says whether the files say what the latest situation wants of them. It may be called at any time.
func (k *Keeper) Told() bool { return k.told.Load() }

// begin notes what is there before the first write.
func (k *Keeper) begin() error {
	if k.before != nil {
		return nil
	}
	if err := os.MkdirAll(k.options.Directory, directoryMode); err != nil {
		return fmt.Errorf("make a directory for Terway: %w", err)
	}
	before := map[string]*string{podFile: nil, nodeFile: nil}
	for name := range before {
		content, err := os.ReadFile(filepath.Join(k.options.Directory, name))
		if err == nil {
			before[name] = new(string(content))
		} else if !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("read what Terway was told before: %w", err)
		}
	}
	if err := k.options.Held.Save(before); err != nil {
		return fmt.Errorf("keep what Terway was told before: %w", err)
	}
	k.before = before
	return nil
}

// write replaces a file as a whole, so that Terway never reads half of one.
func (k *Keeper) write(name string, content []byte) error {
	at := filepath.Join(k.options.Directory, name)
	old, err := os.ReadFile(at)
	if err == nil && bytes.Equal(old, content) {
		return nil
	}
	err = replace(at, content)
	entry := audit.Entry{Time: k.options.Clock.Now(), Owner: k.Name(), Object: at, Old: clip(old), New: clip(content), Why: "what classes and pods may send and receive"}
	if err != nil {
		entry.New, entry.Error = entry.Old, err.Error()
	}
	k.options.Audit.Add(entry)
	if err != nil {
		return fmt.Errorf("tell Terway: %w", err)
	}
	return nil
}

// besides is what the name of a file ends in while it is written.
const besides = ".new"

func replace(at string, content []byte) error {
	beside := at + besides
	if err := os.WriteFile(beside, content, fileMode); err != nil {
		return err
	}
	return os.Rename(beside, at)
}

// clip keeps what is quoted in the audit log short.
func clip(content []byte) string { return string(content[:min(len(content), 256)]) }

// Release implements qos.Keeper.
func (k *Keeper) Release(context.Context) error {
	k.told.Store(false)
	if k.before == nil {
		return nil
	}
	var problems []error
	for name, before := range k.before {
		_ = os.Remove(filepath.Join(k.options.Directory, name) + besides) // an agent that was killed may have left it
		if before != nil {
			problems = append(problems, k.write(name, []byte(*before)))
			continue
		}
		err := os.Remove(filepath.Join(k.options.Directory, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		problems = append(problems, err)
		k.options.Audit.Add(audit.Entry{Time: k.options.Clock.Now(), Owner: k.Name(), Object: filepath.Join(k.options.Directory, name), Old: "written", Why: "Terway is not to be told any more"})
	}
	if err := errors.Join(problems...); err != nil {
		return fmt.Errorf("give back what Terway was told before: %w", err)
	}
	k.before = nil
	return k.options.Held.Save(k.before)
}

// pod is one as Terway reads it; bandwidths are in bytes per second, 0 for no bound.
type pod struct {
	Name      string `json:"podName"`
	Namespace string `json:"podNamespace"`
	UID       string `json:"podUID"`
	Priority  int    `json:"prio"`
	Cgroup    string `json:"cgroupDir"`
	QoS       bounds `json:"qosConfig"`
}

type bounds struct {
	Ingress int64 `json:"ingressBandwidth"`
	Egress  int64 `json:"egressBandwidth"`
}

// pods are those that have not ended, by UID.
func (k *Keeper) pods(in qos.Situation, total networkqos.Rate) map[string]pod {
	out := map[string]pod{}
	for _, p := range in.Pods {
		limits := networkqos.OfPod(p.Object.Annotations, total)
		out[string(p.Object.UID)] = pod{
			Name: p.Object.Name, Namespace: p.Object.Namespace, UID: string(p.Object.UID),
			Priority: networkqos.TerwayPriority(extension.PodQoSClass(p.Object), p.Class()),
			Cgroup:   path.Join(k.options.CgroupRoot, "net_cls", in.Layout.Pod(p.Class(), p.UID)),
			QoS:      bounds{Ingress: limits.IngressLimit.Bytes(), Egress: limits.EgressLimit.Bytes()},
		}
	}
	return out
}

// levels are the lines of the file for the node.
func levels(node networkqos.Terway) []byte {
	var out bytes.Buffer
	for _, line := range []struct {
		name  string
		value int64
	}{
		{"hw_tx_bps_max", node.Hardware}, {"hw_rx_bps_max", node.Hardware},
		{"offline_l1_tx_bps_min", node.LS.SendLeast}, {"offline_l1_tx_bps_max", node.LS.SendMost},
		{"offline_l1_rx_bps_min", node.LS.ReceiveLeast}, {"offline_l1_rx_bps_max", node.LS.ReceiveMost},
		{"offline_l2_tx_bps_min", node.BE.SendLeast}, {"offline_l2_tx_bps_max", node.BE.SendMost},
		{"offline_l2_rx_bps_min", node.BE.ReceiveLeast}, {"offline_l2_rx_bps_max", node.BE.ReceiveMost},
	} {
		fmt.Fprintf(&out, "%s %d\n", line.name, line.value)
	}
	return out.Bytes()
}
