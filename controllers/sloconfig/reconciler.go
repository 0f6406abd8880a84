package sloconfig

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"koordinator.sh/koord/decision/core/configmerge"
)

// reconciler reads the ConfigMap. There is one worker, so its fields need no lock.
type reconciler struct {
	client   client.Client
	recorder events.EventRecorder
	options  Options
	// elected is closed when this replica is the leader.
	elected <-chan struct{}
	// reported has the problems of the last events.
	reported map[string]bool
}

// Reconcile reads the ConfigMap, puts its valid keys in effect, and reports the others.
func (r *reconciler) Reconcile(ctx context.Context, _ reconcile.Request) (reconcile.Result, error) {
	last, err := r.last(ctx)
	if err != nil {
		return reconcile.Result{}, err
	}
	object := &corev1.ConfigMap{}
	var config configmerge.Config
	switch err := r.client.Get(ctx, r.options.Name(), object); {
	case apierrors.IsNotFound(err):
		object.Namespace, object.Name = r.options.Name().Namespace, r.options.Name().Name
		config = configmerge.Gone(last)
	case err != nil:
		return reconcile.Result{}, fmt.Errorf("get configmap %s: %w", r.options.Name(), err)
	default:
		next, _ := configmerge.Parse(object.Data)
		config = configmerge.KeepLastGood(last, next)
	}
	r.options.Store.Set(config)
	record(config.Problems())
	if !r.leads() {
		return reconcile.Result{}, nil
	}
	r.announce(ctx, object, config.Problems())
	return reconcile.Result{}, r.keep(ctx, object, config)
}

// last is the configuration in force, or after a start the one that was.
func (r *reconciler) last(ctx context.Context) (configmerge.Config, error) {
	if config, loaded := r.options.Store.Config(); loaded {
		return config, nil
	}
	kept := &corev1.ConfigMap{}
	err := r.client.Get(ctx, r.options.lastGood(), kept)
	if client.IgnoreNotFound(err) != nil {
		return configmerge.Config{}, fmt.Errorf("get configmap %s: %w", r.options.lastGood(), err)
	}
	config, problems := configmerge.Parse(kept.Data)
	for _, problem := range problems {
		// Someone edited it. What can still be read of it is better than nothing.
		log.FromContext(ctx).Info("The last valid configuration is corrupt", "configmap", r.options.lastGood(), "problem", problem.String())
	}
	return config, nil
}

func (r *reconciler) leads() bool {
	select {
	case <-r.elected:
		return true
	default:
		return false
	}
}

// announce sends an event for every problem that is new, and one when all are gone.
func (r *reconciler) announce(ctx context.Context, object *corev1.ConfigMap, problems []configmerge.Problem) {
	current := make(map[string]bool, len(problems))
	for _, problem := range problems {
		text := fmt.Sprintf("[%s] %s", problem.Code, problem)
		current[text] = true
		if r.reported[text] {
			continue
		}
		log.FromContext(ctx).Info("Invalid configuration", "configmap", r.options.Name(), "code", problem.Code, "problem", problem.String())
		r.recorder.Eventf(object, nil, corev1.EventTypeWarning, problem.Code.Name(), "ReadConfiguration", "%s", bounded(text))
	}
	if len(problems) == 0 && len(r.reported) > 0 {
		r.recorder.Eventf(object, nil, corev1.EventTypeNormal, "ConfigAccepted", "ReadConfiguration", "all keys are in effect")
	}
	r.reported = current
}

// bounded keeps an event's note within what the API server accepts.
func bounded(text string) string {
	const longest = 1000
	if len(text) <= longest {
		return text
	}
	return strings.ToValidUTF8(text[:longest], "") + "..."
}
