package protections

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/decision/admission/protection"
)

// checkInterval is the time between two checks. A problem is reported when two checks in a row find it: an upgrade of the chart, or
// koord-manager itself, may be about to fix it.
const checkInterval = 5 * time.Second

// controller checks the protections of the chart.
type controller struct {
	reader    client.Reader
	recorder  events.EventRecorder
	clock     clock.WithTicker
	namespace string
	// seen is the problem found by the latest check, and reported the problem that was reported last, by key.
	seen, reported map[string]string
	// unreadable are the protections, by key, for which it was reported that they cannot be read.
	unreadable map[string]bool
}

// AddToManager adds the controller, which the leader runs. It asks the API server and not a cache: the right to watch cannot be limited to
// several names.
func AddToManager(mgr ctrl.Manager, namespace string) error {
	register()
	g := &controller{
		reader: mgr.GetAPIReader(), recorder: mgr.GetEventRecorder("protections"), clock: clock.RealClock{}, namespace: namespace,
		seen: map[string]string{}, reported: map[string]string{}, unreadable: map[string]bool{},
	}
	if err := mgr.Add(g); err != nil {
		return fmt.Errorf("add the protections controller: %w", err)
	}
	return nil
}

// Start checks until the context ends.
func (g *controller) Start(ctx context.Context) error {
	ticker := g.clock.NewTicker(checkInterval)
	defer ticker.Stop()
	for {
		g.check(ctx)
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C():
		}
	}
}

// check compares all objects once. For an object that cannot be read, only the error is reported.
func (g *controller) check(ctx context.Context) {
	var config corev1.ConfigMap
	err := g.reader.Get(ctx, types.NamespacedName{Namespace: g.namespace, Name: protection.ConfigMapName}, &config)
	if err != nil {
		if apierrors.IsNotFound(err) {
			err = fmt.Errorf("configmap %q does not exist: the expected protections are unknown; upgrade the chart", protection.ConfigMapName)
		}
		g.unknown(ctx, "ConfigMap."+protection.ConfigMapName, err)
		missing.Reset()
		weakened.Reset()
		return
	}
	g.known("ConfigMap." + protection.ConfigMapName)
	on := map[string]bool{}
	for _, p := range protection.Expected(config.Data) {
		if p.Keeper != protection.ByChart {
			continue
		}
		on[p.Key()] = true
		live, err := g.get(ctx, p)
		if err != nil {
			missing.DeleteLabelValues(p.Kind, p.Name)
			weakened.DeleteLabelValues(p.Kind, p.Name)
			g.unknown(ctx, p.Key(), err)
			continue
		}
		g.report(ctx, protection.Assess(p, config.Data[p.Key()], live), &config)
	}
	for _, p := range protection.All() {
		if !on[p.Key()] { // turned off since
			missing.DeleteLabelValues(p.Kind, p.Name)
			weakened.DeleteLabelValues(p.Kind, p.Name)
			g.known(p.Key())
		}
	}
}

// get returns nil for what does not exist.
func (g *controller) get(ctx context.Context, p protection.Protection) (map[string]any, error) {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(schema.GroupVersionKind{Group: "admissionregistration.k8s.io", Version: "v1", Kind: p.Kind})
	err := g.reader.Get(ctx, types.NamespacedName{Name: p.Name}, object)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("get %s %q: %w", p.Kind, p.Name, err)
	}
	return object.Object, nil
}

// report reports the problem of an object if the previous check found the same.
func (g *controller) report(ctx context.Context, assessed protection.Assessment, config *corev1.ConfigMap) {
	wrong := ""
	if assessed.State != protection.InForce {
		wrong = assessed.Finding().Message
	}
	key, before := assessed.Key(), g.seen[assessed.Key()]
	g.seen[key] = wrong
	if wrong != before {
		return
	}
	missing.WithLabelValues(assessed.Kind, assessed.Name).Set(one(assessed.State == protection.Missing))
	weakened.WithLabelValues(assessed.Kind, assessed.Name).Set(one(assessed.State == protection.Weakened))
	delete(g.unreadable, key)
	if g.reported[key] == wrong {
		return
	}
	g.reported[key] = wrong
	logger := klog.FromContext(ctx).WithValues("kind", assessed.Kind, "name", assessed.Name)
	if wrong == "" {
		logger.Info("Protection restored")
		g.sendEvent(config, assessed.Protection, corev1.EventTypeNormal, "ProtectionRestored", fmt.Sprintf("%s %q is restored", assessed.Kind, assessed.Name))
		return
	}
	found := assessed.Finding()
	logger.Error(nil, "Protection missing or modified", "code", found.Code, "message", found.Message)
	g.sendEvent(config, assessed.Protection, corev1.EventTypeWarning, finding.Code(found.Code).Name(), fmt.Sprintf("[%s] %s", found.Code, found.Message))
}

// sendEvent sends an event about the ConfigMap, because a deleted object cannot have one. The object is named as related, so that events of
// two objects are not merged.
func (g *controller) sendEvent(config *corev1.ConfigMap, p protection.Protection, kind, reason, message string) {
	about := &corev1.ConfigMap{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}, ObjectMeta: config.ObjectMeta}
	related := &metav1.PartialObjectMetadata{
		TypeMeta: metav1.TypeMeta{APIVersion: "admissionregistration.k8s.io/v1", Kind: p.Kind}, ObjectMeta: metav1.ObjectMeta{Name: p.Name},
	}
	g.recorder.Eventf(about, related, kind, reason, "CheckProtections", "%s", message)
}

// unknown logs once that an object could not be read.
func (g *controller) unknown(ctx context.Context, key string, err error) {
	if ctx.Err() != nil || g.unreadable[key] {
		return
	}
	g.unreadable[key] = true
	delete(g.reported, key)
	klog.FromContext(ctx).Error(err, "Failed to check a protection", "protection", key)
}

// known clears the state of an object.
func (g *controller) known(key string) {
	delete(g.reported, key)
	delete(g.seen, key)
	delete(g.unreadable, key)
}

func one(is bool) float64 {
	if is {
		return 1
	}
	return 0
}
