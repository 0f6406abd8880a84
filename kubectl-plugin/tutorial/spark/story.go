package spark

import (
	"context"
	_ "embed" // the manifest
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"time"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/kubectl-plugin/tutorial"
	"koordinator.sh/koord/sandbox/workload"
)

//go:embed service.yaml
var service string

// followWithin is how long what a node offers may take to follow what is used of it: its averages are over a minute.
const followWithin = 3 * time.Minute

func (s *story) prepare(ctx context.Context, t *tutorial.Session) error {
	if err := s.importImage(ctx, t); err != nil {
		return err
	}
	if err := s.undoAtTheEnd(ctx, t); err != nil {
		return err
	}
	if err := s.choosePercent(ctx, t); err != nil {
		return err
	}
	const threshold = "resource-threshold-config.clusterStrategy."
	if _, err := t.Koordctl(ctx, "config", "set", fmt.Sprintf("colocation-config.cpuReclaimThresholdPercent=%d", mostPercent+s.other),
		fmt.Sprintf(threshold+"cpuSuppressThresholdPercent=%d", min(mostPercent+s.other, 100)), fmt.Sprintf(threshold+"cpuSuppressMinPercent=%d", leastPercent),
		threshold+"cpuSuppressPolicy=cfsQuota", "--yes"); err != nil {
		return err
	}
	_, err := t.Kubectl(ctx, "annotate", "node", t.Node.Name, "--overwrite", `scheduling.koordinator.sh/usage-thresholds={"usageThresholds":{"cpu":0}}`)
	return err
}

// undoAtTheEnd has everything deleted that the tutorial makes, and the configuration be what it was.
func (s *story) undoAtTheEnd(ctx context.Context, t *tutorial.Session) error {
	configMap := []string{"configmap", "slo-controller-config", "-n", "koordinator-system"}
	var before corev1.ConfigMap
	if err := t.Ask(ctx, &before, append([]string{"get", "-o", "json"}, configMap...)...); err != nil {
		return err
	}
	patch, err := json.Marshal(map[string]any{"data": before.Data})
	if err != nil {
		return err
	}
	kubectl := func(ctx context.Context, args ...string) error {
		_, err := t.Run(ctx, t.KubectlPath, "", args...)
		return err
	}
	t.Undo(func(ctx context.Context) error {
		return errors.Join(
			kubectl(ctx, "delete", "--ignore-not-found", "namespace/"+Namespace, "clustercolocationprofile/spark-tutorial"),
			kubectl(ctx, "annotate", "node", t.Node.Name, "scheduling.koordinator.sh/usage-thresholds-"),
			kubectl(ctx, append([]string{"patch", "--type=merge", "-p", string(patch)}, configMap...)...),
		)
	})
	return nil
}

// Percentages of the node's CPU.
const (
	// mostPercent may services and batch pods use together, beside what else runs on the machine.
	mostPercent = 65
	// leastPercent is left to batch pods in any case.
	leastPercent = 20
	// ownPercent is about what the sandbox itself uses, which is no reason to raise the threshold.
	ownPercent = 20
	// lookFor is how long the machine is looked at.
	lookFor = 5 * time.Second
)

// choosePercent chooses the threshold by what else runs on the machine: it would be counted as the system's use.
func (s *story) choosePercent(ctx context.Context, t *tutorial.Session) error {
	before, err := workload.MachineCPUTime()
	if err != nil {
		return err
	}
	began := time.Now()
	err = t.Await(ctx, "what else runs on this machine to show", time.Minute, func(context.Context) error {
		if time.Since(began) < lookFor {
			return errors.New("it was looked at too briefly")
		}
		return nil
	})
	if err != nil {
		return err
	}
	after, err := workload.MachineCPUTime()
	if err != nil {
		return err
	}
	s.other = max(int(math.Round(100*after.Since(before)))-ownPercent, 0)
	return nil
}

func (s *story) seenPrepared() string {
	if s.other == 0 {
		return "Nothing else of note runs on this machine."
	}
	return fmt.Sprintf("Other programs use %d %% of this machine, which counts as use of the system: the thresholds are higher by as much, and all "+
		"figures below include it.", s.other)
}

// isReady wants a node that takes pods.
func (s *story) isReady(ctx context.Context, t *tutorial.Session) error {
	return t.Await(ctx, "the node to be ready", startWithin, func(ctx context.Context) error {
		var node corev1.Node
		if err := t.Ask(ctx, &node, "get", "node", t.Node.Name, "-o", "json"); err != nil {
			return err
		}
		for _, condition := range node.Status.Conditions {
			if condition.Type == corev1.NodeReady && condition.Status == corev1.ConditionTrue {
				return nil
			}
		}
		return errors.New("it is not ready")
	})
}

func (s *story) serveAlone(ctx context.Context, t *tutorial.Session) error {
	if err := t.Apply(ctx, service); err != nil {
		return err
	}
	err := t.Await(ctx, "the service to run", startWithin, func(ctx context.Context) error {
		var pod corev1.Pod
		if err := t.Ask(ctx, &pod, "get", "pod", "-n", Namespace, "web", "-o", "json"); err != nil {
			return err
		}
		if pod.Status.Phase != corev1.PodRunning || pod.Status.PodIP == "" {
			return fmt.Errorf("pod %q is %s", pod.Name, pod.Status.Phase)
		}
		s.target = "http://" + pod.Status.PodIP + ":8080/"
		return nil
	})
	if err != nil {
		return err
	}
	if s.aloneHigh, err = s.measure(ctx, t, "service alone", high); err != nil {
		return err
	}
	if s.aloneLow, err = s.measure(ctx, t, "service alone", low); err != nil {
		return err
	}
	_, err = t.Koordctl(ctx, "top", "nodes")
	return err
}

func (s *story) seenAlone() string {
	return fmt.Sprintf("With %d requests a second, %s of the machine's CPU is used, and the p99 is %s; with %d it is %s, and %s.",
		low, percent(s.aloneLow.used), milliseconds(s.aloneLow.P99), high, percent(s.aloneHigh.used), milliseconds(s.aloneHigh.P99))
}

func (s *story) served(context.Context, *tutorial.Session) error {
	if s.aloneLow.Requests == 0 || s.aloneHigh.Requests == 0 {
		return errors.New("the service answered no requests")
	}
	return nil
}

func (s *story) lookAtOffer(ctx context.Context, t *tutorial.Session) error {
	err := t.Await(ctx, "the node to offer batch-cpu", followWithin, func(ctx context.Context) error {
		if err := s.look(ctx, t); err != nil {
			return err
		}
		return s.offers(ctx, t)
	})
	if err != nil {
		return err
	}
	_, err = t.Koordctl(ctx, "explain", "node", t.Node.Name, "batch-cpu")
	return err
}

func (s *story) seenOffer() string {
	return fmt.Sprintf("The node offers %d thousandths of a core as batch-cpu.", s.offer)
}

// needed is the batch-cpu that Spark's pods request together, in thousandths of a core.
const needed = 20 + executors*50

func (s *story) offers(context.Context, *tutorial.Session) error {
	if s.offer < needed {
		return fmt.Errorf("the node offers %d thousandths of a core as batch-cpu, and Spark needs %d: is the machine busy with something else?", s.offer, needed)
	}
	return nil
}

func (s *story) runTogether(ctx context.Context, t *tutorial.Session) (err error) {
	err = t.Await(ctx, "Spark to do its first tasks", startWithin, func(ctx context.Context) error {
		if done, _, err := s.tasks(ctx, t); err != nil || done == 0 {
			return errors.Join(err, errors.New("it has done none"))
		}
		return nil
	})
	if err != nil {
		return err
	}
	if s.together, err = s.measure(ctx, t, "with Spark", low); err != nil {
		return err
	}
	if _, err := t.Kubectl(ctx, "logs", "-n", Namespace, s.driver.Name, "--tail=3"); err != nil {
		return err
	}
	if _, err := t.Koordctl(ctx, "top", "pods", "-n", Namespace); err != nil {
		return err
	}
	return s.look(ctx, t)
}

func (s *story) seenTogether() string {
	return fmt.Sprintf("The p99 is %s, %s of what it was alone. The CPU that is used went from %s to %s of the machine, %s. Spark does %.1f tasks a second.",
		milliseconds(s.together.P99), times(float64(s.together.P99), float64(s.aloneLow.P99)), percent(s.aloneLow.used), percent(s.together.used),
		times(s.together.used, s.aloneLow.used), s.together.tasks)
}

func (s *story) makesProgress(context.Context, *tutorial.Session) error {
	if s.together.tasks <= 0 {
		return errors.New("the application does no tasks beside the service")
	}
	return nil
}
