package eviction

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"koordinator.sh/koord/api/configuration"
	"koordinator.sh/koord/decision/nodeqos/evictionbudget"
)

const (
	// fieldManager is the name under which the manager writes.
	fieldManager = "koord-manager"
	// maxAttempts bounds how often one eviction is counted again because another replica counted one at the same time.
	maxAttempts = 8
	// countEvery is how often the co-located pods are counted.
	countEvery = 30 * time.Second
)

// Budget counts the evictions of all node agents in a ConfigMap, which all replicas of the manager share and which outlives them. It is
// safe for concurrent use.
type Budget struct {
	// Client reads from a cache and writes, Live reads what the cache does not have yet.
	Client client.Client
	Live   client.Reader
	// Namespace of the ConfigMap.
	Namespace string
	// Percent of the co-located pods that may be evicted within the window.
	Percent int
	Events  events.EventRecorder
	Clock   clock.PassiveClock

	mu           sync.Mutex
	pods         int
	counted      time.Time
	lastReported time.Time
}

// Take asks for one eviction, and counts it unless it is only tried.
func (b *Budget) Take(ctx context.Context, dryRun bool) (evictionbudget.Verdict, error) {
	pods, err := b.colocated(ctx)
	if err != nil {
		return evictionbudget.Verdict{}, err
	}
	reader := client.Reader(b.Client)
	for range maxAttempts {
		record, err := b.read(ctx, reader)
		if err != nil {
			return evictionbudget.Verdict{}, err
		}
		verdict := evictionbudget.Decide(evictionbudget.Input{Now: b.Clock.Now(), Evicted: evicted(ctx, record), Pods: pods, Percent: b.Percent})
		if !verdict.Allowed {
			b.tell(record, verdict)
		}
		if dryRun || !verdict.Allowed {
			return verdict, nil
		}
		err = b.write(ctx, record, verdict)
		if err == nil || !apierrors.IsConflict(err) && !apierrors.IsAlreadyExists(err) {
			return verdict, err
		}
		reader = b.Live
	}
	return evictionbudget.Verdict{}, errors.New("other evictions were recorded at the same time; try again later")
}

// read returns the ConfigMap, or a new one.
func (b *Budget) read(ctx context.Context, reader client.Reader) (*corev1.ConfigMap, error) {
	name := types.NamespacedName{Namespace: b.Namespace, Name: configuration.EvictionsConfigMapName}
	record := &corev1.ConfigMap{}
	err := reader.Get(ctx, name, record)
	if apierrors.IsNotFound(err) {
		return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: name.Namespace, Name: name.Name}}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("get configmap %s: %w", name, err)
	}
	return record, nil
}

// evicted returns the evictions recorded in a ConfigMap. A damaged record is replaced by an empty one.
func evicted(ctx context.Context, object *corev1.ConfigMap) []evictionbudget.Count {
	record, err := evictionbudget.ParseRecord(object.Data)
	if err != nil {
		log.FromContext(ctx).Error(err, "The record of evictions is corrupt; the eviction budget of the cluster is reset", "configmap", client.ObjectKeyFromObject(object))
	}
	return record.Evicted
}

// write fails with a conflict where another replica wrote since the ConfigMap was read.
func (b *Budget) write(ctx context.Context, record *corev1.ConfigMap, verdict evictionbudget.Verdict) error {
	next := record.DeepCopy()
	next.Data = verdict.Record().Data()
	var err error
	if record.ResourceVersion == "" {
		err = b.Client.Create(ctx, next, client.FieldOwner(fieldManager))
	} else {
		err = b.Client.Update(ctx, next, client.FieldOwner(fieldManager))
	}
	if err != nil {
		return fmt.Errorf("record an eviction in configmap %s: %w", client.ObjectKeyFromObject(record), err)
	}
	return nil
}

// tell sends one event a window that the budget is used up.
func (b *Budget) tell(record *corev1.ConfigMap, verdict evictionbudget.Verdict) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.Clock.Now()
	if !b.lastReported.IsZero() && now.Sub(b.lastReported) < evictionbudget.Window {
		return
	}
	b.lastReported = now
	b.Events.Eventf(record, nil, corev1.EventTypeWarning, "EvictionBudgetUsedUp", "AdmitEviction", "%s", budgetText(verdict))
}
