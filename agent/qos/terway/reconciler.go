// Package terway writes the two files from which Terway, the network of pods on Alibaba Cloud, reads what classes and pods may send and receive.
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
	"koordinator.sh/koord/decision/nodeqos/nodefeature"
)

// Directory is where Terway reads its files.
const Directory = "/var/lib/terway/qos"

// The files, and their permissions.
const (
	podFile  = "pod.json"
	nodeFile = "global_bps_config"

	fileMode      = 0o644
	directoryMode = 0o755
)

// Options of a Reconciler.
type Options struct {
	// Directory for the files; it is made when it does not exist.
	Directory string
	// CgroupRoot is where the cgroups of version 1 are mounted for Terway.
	CgroupRoot string
	// Originals keeps whether the files are the agent's, and what they were before.
	Originals executor.Store
	Audit     *audit.Log
	// Clock is the time at which something was written.
	Clock clock.PassiveClock
}

// Reconciler implements qos.Reconciler.
type Reconciler struct {
	options Options
	// before is what was there before the agent, by file; nil for what was not. The map is nil while the agent holds nothing.
	before map[string]*string
	// inSync is true while both files say what they should.
	inSync atomic.Bool
}

var _ qos.Reconciler = (*Reconciler)(nil)

// New returns a Reconciler that holds what the store says an earlier one did.
func New(options Options) (*Reconciler, error) {
	r := &Reconciler{options: options}
	if _, err := options.Originals.Load(&r.before); err != nil {
		return nil, fmt.Errorf("save the original configuration of Terway: %w", err)
	}
	return r, nil
}

// Name implements qos.Reconciler.
func (*Reconciler) Name() string { return nodefeature.TerwayQoS.Name }

// Reconcile implements qos.Reconciler. Files that say what they should are not written.
func (r *Reconciler) Reconcile(ctx context.Context, in qos.NodeSnapshot) error {
	annotation := ""
	if in.Node != nil {
		annotation = in.Node.Annotations[extension.AnnotationNodeNetworkBandwidth]
	}
	total, _ := networkqos.TotalOf(in.SLO.SystemStrategy, annotation, 0)
	node, wanted := networkqos.TerwayOf(in.SLO.ResourceQOSStrategy, total)
	if !wanted {
		return r.Restore(ctx)
	}
	pods, err := json.Marshal(r.pods(in, total))
	if err != nil {
		return fmt.Errorf("write the pods for Terway: %w", err)
	}
	if err := r.saveOriginals(); err != nil {
		return err
	}
	err = errors.Join(r.write(nodeFile, levels(node)), r.write(podFile, pods))
	r.inSync.Store(err == nil)
	return err
}

// InSync reports whether the files say what the latest snapshot wants of them. It may be called at any time.
func (r *Reconciler) InSync() bool { return r.inSync.Load() }

// saveOriginals notes what is there before the first write.
func (r *Reconciler) saveOriginals() error {
	if r.before != nil {
		return nil
	}
	if err := os.MkdirAll(r.options.Directory, directoryMode); err != nil {
		return fmt.Errorf("make a directory for Terway: %w", err)
	}
	before := map[string]*string{podFile: nil, nodeFile: nil}
	for name := range before {
		content, err := os.ReadFile(filepath.Join(r.options.Directory, name))
		if err == nil {
			before[name] = new(string(content))
		} else if !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("read the original configuration of Terway: %w", err)
		}
	}
	if err := r.options.Originals.Save(before); err != nil {
		return fmt.Errorf("save the original configuration of Terway: %w", err)
	}
	r.before = before
	return nil
}

// write replaces a file as a whole, so that Terway never reads half of one.
func (r *Reconciler) write(name string, content []byte) error {
	at := filepath.Join(r.options.Directory, name)
	old, err := os.ReadFile(at)
	if err == nil && bytes.Equal(old, content) {
		return nil
	}
	err = replace(at, content)
	entry := audit.Entry{Time: r.options.Clock.Now(), Owner: r.Name(), Object: at, Old: clip(old), New: clip(content), Why: "what classes and pods may send and receive"}
	if err != nil {
		entry.New, entry.Error = entry.Old, err.Error()
	}
	r.options.Audit.Add(entry)
	if err != nil {
		return fmt.Errorf("write the configuration of Terway: %w", err)
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

// Restore implements qos.Reconciler.
func (r *Reconciler) Restore(context.Context) error {
	r.inSync.Store(false)
	if r.before == nil {
		return nil
	}
	var problems []error
	for name, before := range r.before {
		_ = os.Remove(filepath.Join(r.options.Directory, name) + besides) // an agent that was killed may have left it
		if before != nil {
			problems = append(problems, r.write(name, []byte(*before)))
			continue
		}
		err := os.Remove(filepath.Join(r.options.Directory, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		problems = append(problems, err)
		r.options.Audit.Add(audit.Entry{Time: r.options.Clock.Now(), Owner: r.Name(), Object: filepath.Join(r.options.Directory, name), Old: "written", Why: "no feature sets it any more"})
	}
	if err := errors.Join(problems...); err != nil {
		return fmt.Errorf("restore the original configuration of Terway: %w", err)
	}
	r.before = nil
	return r.options.Originals.Save(r.before)
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
func (r *Reconciler) pods(in qos.NodeSnapshot, total networkqos.Rate) map[string]pod {
	out := map[string]pod{}
	for _, p := range in.Pods {
		limits := networkqos.OfPod(p.Object.Annotations, total)
		out[string(p.Object.UID)] = pod{
			Name: p.Object.Name, Namespace: p.Object.Namespace, UID: string(p.Object.UID),
			Priority: networkqos.TerwayPriority(extension.PodQoSClass(p.Object), p.Class()),
			Cgroup:   path.Join(r.options.CgroupRoot, "net_cls", in.Layout.Pod(p.Class(), p.UID)),
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
