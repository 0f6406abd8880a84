package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/api/extension"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
	"koordinator.sh/koord/bench/controlplane"
	"koordinator.sh/koord/bench/koordmanager"
)

const (
	mutateQuota   = "mutate-elasticquota.koordinator.sh"
	validateQuota = "validate-elasticquota.koordinator.sh"
	// leavesPerParent in the tree; the parents hang below the root.
	leavesPerParent = 100
)

var quotaResource = schedulingsigsv1alpha1.GroupVersion.WithResource("elasticquotas")

// quotaBench measures writes of quotas.
type quotaBench struct {
	gate
	chosen settings
	// created counts the leaves that were added to the tree, so that each has a unique name.
	created int
}

// quotaTurns are the measured turns with or without admission.
type quotaTurns struct {
	name  string
	asked map[string]int
	// oneByOne and paced are how long requests took.
	oneByOne, paced []time.Duration
	answers         map[string]answers
}

// measureQuotas measures what admission adds to writes of quotas in a large tree.
func measureQuotas(ctx context.Context, chosen settings) (figures []figure, err error) {
	plane, err := controlplane.Start(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, plane.Stop(context.WithoutCancel(ctx))) }()
	addresses, err := koordmanager.Install(ctx, plane)
	if err != nil {
		return nil, err
	}
	b := &quotaBench{gate: gate{plane, []string{mutateQuota, validateQuota}}, chosen: chosen}
	say("creating %d quotas", chosen.quotas)
	if err := b.plant(ctx); err != nil {
		return nil, fmt.Errorf("create the quotas: %w", err)
	}
	manager, err := startManager(ctx, plane, chosen.program, addresses)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, manager.Stop()) }()
	none := &quotaTurns{name: "no admission", answers: map[string]answers{}}
	admitted := &quotaTurns{name: "admission", asked: map[string]int{mutateQuota: 1, validateQuota: 1}, answers: map[string]answers{}}
	for i := range chosen.runs {
		for _, t := range []*quotaTurns{none, admitted} {
			say("turn %d of %d: quotas, %s", i+1, chosen.runs, t.name)
			if err := b.turn(ctx, t); err != nil {
				return nil, fmt.Errorf("%s: %w\n%s", t.name, err, manager.Tail())
			}
		}
	}
	return quotaFigures(chosen, none, admitted), nil
}

func parentName(i int) string { return fmt.Sprintf("team-%03d", i) }
func leafName(i int) string   { return fmt.Sprintf("leaf-%05d", i) }

// newQuota has a min in whole cores and as many GiB, and a max that does not limit.
func newQuota(name, least string, labels map[string]string) *schedulingsigsv1alpha1.ElasticQuota {
	quota := &schedulingsigsv1alpha1.ElasticQuota{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: labels}}
	quota.Spec.Min = controlplane.Quantities(map[corev1.ResourceName]string{"cpu": least, "memory": least + "Gi"})
	quota.Spec.Max = controlplane.Quantities(map[corev1.ResourceName]string{"cpu": "10000", "memory": "40000Gi"})
	return quota
}

// newLeaf hangs below one of the parents.
func (b *quotaBench) newLeaf(name, least string, i int) *schedulingsigsv1alpha1.ElasticQuota {
	return newQuota(name, least, map[string]string{extension.LabelQuotaParent: parentName(i % b.parents())})
}

func (b *quotaBench) parents() int { return (b.chosen.quotas + leavesPerParent - 1) / leavesPerParent }

// plant creates the tree, before there is admission.
func (b *quotaBench) plant(ctx context.Context) error {
	err := controlplane.SideBySide(ctx, b.parents(), func(ctx context.Context, i int) error {
		return b.CreateQuota(ctx, newQuota(parentName(i), fmt.Sprint(leavesPerParent), map[string]string{extension.LabelQuotaIsParent: "true"}), metav1.CreateOptions{})
	})
	if err != nil {
		return err
	}
	return controlplane.SideBySide(ctx, b.chosen.quotas, func(ctx context.Context, i int) error {
		return b.CreateQuota(ctx, b.newLeaf(leafName(i), "1", i), metav1.CreateOptions{})
	})
}

// turn measures writes once, with or without admission.
func (b *quotaBench) turn(ctx context.Context, t *quotaTurns) error {
	arrange := b.shut
	if t.asked != nil {
		arrange = b.open
	}
	if err := arrange(ctx); err != nil {
		return err
	}
	err := b.await(ctx, t.asked, func(ctx context.Context) error {
		return b.CreateQuota(ctx, b.newLeaf("probe", "0", 0), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	})
	if err != nil {
		return err
	}
	counted, err := b.count(ctx, func() error {
		took, err := oneByOne(ctx, b.chosen.quotaWrites, b.writer())
		t.oneByOne = append(t.oneByOne, took...)
		if err == nil {
			took, err = pace(ctx, b.chosen.quotaRate, b.chosen.quotaWrites, b.writer())
			t.paced = append(t.paced, took...)
		}
		return err
	})
	if err == nil {
		err = agree(counted, t.asked, 2*b.chosen.quotaWrites)
	}
	if err != nil {
		return err
	}
	addAnswers(t.answers, counted)
	return nil
}

// writer raises or lowers the max of a leaf, or creates a new one, in turns.
func (b *quotaBench) writer() func(context.Context, int) error {
	first := b.created
	b.created += b.chosen.quotaWrites
	return func(ctx context.Context, i int) error {
		number := first + i
		if i%2 == 1 {
			return b.CreateQuota(ctx, b.newLeaf(fmt.Sprintf("more-%06d", number), "0", number), metav1.CreateOptions{})
		}
		// 7919 and the number of leaves have no factor in common, so the leaves come in an order without a pattern.
		leaf := leafName(number * 7919 % b.chosen.quotas)
		body := fmt.Appendf(nil, `{"spec":{"max":{"cpu":"%d"}}}`, 20000+number)
		_, err := b.Dynamic.Resource(quotaResource).Namespace(namespace).Patch(ctx, leaf, types.MergePatchType, body, metav1.PatchOptions{})
		return err
	}
}

// quotaFigures compare both.
func quotaFigures(chosen settings, none, admitted *quotaTurns) []figure {
	var figures []figure
	for _, pattern := range []struct {
		name string
		of   func(*quotaTurns) []time.Duration
	}{
		{"one after another", func(t *quotaTurns) []time.Duration { return t.oneByOne }},
		{fmt.Sprintf("at %g/s", chosen.quotaRate), func(t *quotaTurns) []time.Duration { return t.paced }},
	} {
		for _, t := range []*quotaTurns{none, admitted} {
			times := pattern.of(t)
			what := fmt.Sprintf("quotas written %s, tree of %d, %s", pattern.name, chosen.quotas, t.name)
			figures = append(figures, measurement(what+", p50", milliseconds(quantile(times, 0.5)), "ms", ""),
				measurement(what+", p99", milliseconds(quantile(times, 0.99)), "ms", fmt.Sprintf("of %d, half of them new", len(times))))
		}
		added := quantile(pattern.of(admitted), 0.99) - quantile(pattern.of(none), 0.99)
		figures = append(figures, measurement("p99 added by admission, "+pattern.name, milliseconds(added), "ms", "both webhooks and the way to them"))
	}
	for _, name := range []string{mutateQuota, validateQuota} {
		figures = append(figures, admitted.answers[name].figures(name)...)
	}
	return figures
}
