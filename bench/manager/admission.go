package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	"koordinator.sh/koord/bench/controlplane"
	"koordinator.sh/koord/bench/exposition"
	"koordinator.sh/koord/bench/koordmanager"
)

// podNamespace is where pods are created; profiles select it by podNamespaceLabel.
const (
	podNamespace      = "bench-pods"
	podNamespaceLabel = "bench.koordinator.sh/pods"
	mutatePod         = "mutate-pod.koordinator.sh"
	validatePod       = "validate-pod.koordinator.sh"
)

// turns are the measured turns of one way of admission.
type turns struct {
	admission
	// took is how long requests took in each turn, and answers what the API server measured of the webhooks in all.
	took    [][]time.Duration
	answers map[string]answers
	// policies is the time that the API server spent on mutating policies, and its requests.
	policies answers
	// used is what koord-manager and the API server have used for a number of pods.
	used usage
	pods int
	// refused is how many pods the API server did not take, because admission took too long, and refusal the last reason.
	refused int
	refusal error
}

// all are the times of all turns together.
func (t *turns) all() []time.Duration {
	var all []time.Duration
	for _, took := range t.took {
		all = append(all, took...)
	}
	return all
}

// spread is the smallest and the largest p99 of a turn.
func (t *turns) spread() (smallest, largest time.Duration) {
	for i, took := range t.took {
		p99 := quantile(took, 0.99)
		if i == 0 || p99 < smallest {
			smallest = p99
		}
		largest = max(largest, p99)
	}
	return smallest, largest
}

// podBench measures the creation of pods.
type podBench struct {
	gate
	manager *koordManager
	chosen  settings
}

// measureAdmission measures what admission adds to the creation of pods.
func measureAdmission(ctx context.Context, chosen settings) (figures []figure, err error) {
	plane, err := controlplane.Start(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, plane.Stop(context.WithoutCancel(ctx))) }()
	addresses, err := koordmanager.Install(ctx, plane)
	if err != nil {
		return nil, err
	}
	manager, err := startManager(ctx, plane, chosen.program, addresses)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, manager.Stop()) }()
	b := &podBench{gate{plane, []string{mutatePod, validatePod}}, manager, chosen}
	if err := b.createNamespace(ctx); err != nil {
		return nil, err
	}
	var all []*turns
	for _, way := range admissions {
		all = append(all, &turns{admission: way, answers: map[string]answers{}})
	}
	for i := range chosen.runs {
		for _, t := range all {
			say("turn %d of %d: pods, %s", i+1, chosen.runs, t.name)
			if err := b.turn(ctx, t); err != nil {
				return nil, fmt.Errorf("%s: %w\n%s", t.name, err, manager.Tail())
			}
		}
	}
	return podFigures(chosen, all), nil
}

func (b *podBench) createNamespace(ctx context.Context) error {
	object := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: podNamespace, Labels: map[string]string{podNamespaceLabel: ""}}}
	if _, err := b.Client.CoreV1().Namespaces().Create(ctx, object, metav1.CreateOptions{}); err != nil {
		return err
	}
	return b.CreateServiceAccount(ctx, podNamespace)
}

// turn measures one way of admission once. The first second of pods is not counted.
func (b *podBench) turn(ctx context.Context, t *turns) error {
	if err := b.arrange(ctx, t.admission); err != nil {
		return err
	}
	warmUp, count := int(b.chosen.podRate), int(b.chosen.podRate*b.chosen.podTime.Seconds())
	policies, err := b.policies(ctx)
	if err != nil {
		return err
	}
	used, err := b.manager.usage(ctx)
	if err != nil {
		return err
	}
	counted, err := b.count(ctx, func() error { return b.createPods(ctx, t, warmUp, count) })
	if err == nil && t.refused == 0 { // about pods that it refuses, the API server does not always ask
		err = agree(counted, t.asked, warmUp+count)
	}
	if err != nil {
		return err
	}
	addAnswers(t.answers, counted)
	usedNow, err := b.manager.usage(ctx)
	if err != nil {
		return err
	}
	t.used, t.pods = t.used.plus(usedNow.minus(used)), t.pods+warmUp+count
	now, err := b.policies(ctx)
	if err != nil {
		return err
	}
	t.policies = t.policies.plus(now.minus(policies))
	return b.clear(ctx)
}

// createPods creates pods at a rate. What the API server refuses is counted: a machine that cannot keep up is a result too.
func (b *podBench) createPods(ctx context.Context, t *turns, warmUp, count int) error {
	var mu sync.Mutex
	took, err := pace(ctx, b.chosen.podRate, warmUp+count, func(ctx context.Context, i int) error {
		err := b.create(ctx, t.admission, fmt.Sprintf("pod-%06d", i), metav1.CreateOptions{})
		if ctx.Err() != nil || !apierrors.IsInternalError(err) && !apierrors.IsServerTimeout(err) && !apierrors.IsTimeout(err) {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		t.refused++
		t.refusal = err
		return nil
	})
	if err != nil {
		return fmt.Errorf("create pods: %w", err)
	}
	t.took = append(t.took, took[warmUp:])
	return nil
}

// arrange makes the API server admit pods in one way and no other.
func (b *podBench) arrange(ctx context.Context, way admission) error {
	profiles := b.Dynamic.Resource(profileResource)
	if err := profiles.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{}); err != nil {
		return fmt.Errorf("delete profiles: %w", err)
	}
	if way.profile == nil {
		if err := b.shut(ctx); err != nil {
			return err
		}
	} else {
		if err := b.open(ctx); err != nil {
			return err
		}
		if _, err := profiles.Create(ctx, way.object(), metav1.CreateOptions{}); err != nil {
			return fmt.Errorf("create the profile: %w", err)
		}
	}
	return b.await(ctx, way.asked, func(ctx context.Context) error {
		return b.create(ctx, way, "probe", metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	})
}

// create creates one pod and checks what admission has made of it.
func (b *podBench) create(ctx context.Context, way admission, name string, options metav1.CreateOptions) error {
	pod := newPod(name)
	pod.Namespace = podNamespace
	created, err := b.Client.CoreV1().Pods(podNamespace).Create(ctx, pod, options)
	if err != nil {
		return err
	}
	return way.check(created)
}

// clear deletes the pods and waits until they are gone. None has a node, so none waits for a kubelet.
func (b *podBench) clear(ctx context.Context) error {
	pods := b.Client.CoreV1().Pods(podNamespace)
	return wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, waitTimeout, true, func(ctx context.Context) (bool, error) {
		err := pods.DeleteCollection(ctx, metav1.DeleteOptions{GracePeriodSeconds: new(int64)}, metav1.ListOptions{})
		if err != nil && !apierrors.IsTimeout(err) && !apierrors.IsServerTimeout(err) {
			return false, fmt.Errorf("delete pods: %w", err)
		}
		left, err := pods.List(ctx, metav1.ListOptions{Limit: 1})
		return err == nil && len(left.Items) == 0, err
	})
}

// policies is what the API server has spent on mutating policies for pods.
func (b *podBench) policies(ctx context.Context) (answers, error) {
	const metric = "apiserver_admission_controller_admission_duration_seconds"
	read, err := exposition.Scrape(ctx, b.Config, metric+"_count", metric+"_sum")
	if err != nil {
		return answers{}, err
	}
	labels := []string{"name", "MutatingAdmissionPolicy", "operation", "CREATE", "type", "admit"}
	return answers{count: read.Sum(metric+"_count", labels...), seconds: read.Sum(metric+"_sum", labels...)}, nil
}
