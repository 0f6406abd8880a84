package explain

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	internalcache "k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/profile"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/decision/core/disclosure"
	"koordinator.sh/koord/scheduler/part"
	"koordinator.sh/koord/scheduler/recorder"
)

// Config is what an Engine needs of the scheduler whose decisions it explains.
type Config struct {
	// Client should not be able to write: plugins are not asked to, but they are given it.
	Client kubernetes.Interface
	// Informers of the scheduler, not started yet.
	Informers informers.SharedInformerFactory
	// Cache of the scheduler.
	Cache internalcache.Cache
	// Profiles of the scheduler by name, and their configuration with defaults filled in.
	Profiles       profile.Map
	ProfileConfigs []config.KubeSchedulerProfile
	// Nominator knows which pods are about to be placed where; it is only read.
	Nominator fwk.PodNominator
	// Parts are the scheduler's own plugins, with the state that they share.
	Parts part.Set
	// Attempts that the scheduler recorded; nil when it records none.
	Attempts *recorder.Recorder
	// Identity of this process, and whether it is the leader now.
	Identity string
	Leader   func() bool
	// Now is the clock.
	Now func() time.Time
}

// Engine explains pods. It is safe for concurrent use; explanations are made one at a time, each on all processors, so
// that they never take more than their share from the scheduler.
type Engine struct {
	config      Config
	pods        corelisters.PodLister
	snapshot    *internalcache.Snapshot
	simulations map[string]*simulation
	turn        chan struct{}
}

// New builds an Engine. Its frameworks live until the context ends. It must be called before the informers start.
func New(ctx context.Context, settings Config) (*Engine, error) {
	engine := &Engine{
		config: settings, pods: settings.Informers.Core().V1().Pods().Lister(), snapshot: internalcache.NewEmptySnapshot(),
		simulations: map[string]*simulation{}, turn: make(chan struct{}, 1),
	}
	for _, profile := range settings.ProfileConfigs {
		sim, err := newSimulation(ctx, settings, profile)
		if err != nil {
			return nil, err
		}
		engine.simulations[profile.SchedulerName] = sim
	}
	return engine, nil
}

// Explain answers a question of a caller that is permitted to do everything.
func (e *Engine) Explain(ctx context.Context, question *diagnosticsv1alpha1.PodExplanation) (*diagnosticsv1alpha1.PodExplanation, error) {
	return e.ExplainFor(ctx, question, nil)
}

// ExplainFor answers a question. It returns a copy of the question with the status filled in: what it names is not yet what the caller may
// see, but the changes that it proposes are those that the caller may make; nil may make all. An unknown pod or Reservation is a
// NotFound error; a context that ends first is an error, too, and so is a panic: explaining must not end the scheduler.
func (e *Engine) ExplainFor(ctx context.Context, question *diagnosticsv1alpha1.PodExplanation, may disclosure.Access) (explained *diagnosticsv1alpha1.PodExplanation, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			klog.FromContext(ctx).Error(nil, "Explaining a pod panicked", "pod", klog.KRef(question.Namespace, question.Spec.PodName), "panic", cause, "stack", string(debug.Stack()))
			explained, err = nil, fmt.Errorf("explain pod %s/%s: panic: %v", question.Namespace, question.Spec.PodName, cause)
		}
	}()
	pod, status, err := e.subject(ctx, question)
	if err != nil {
		return nil, err
	}
	select {
	case e.turn <- struct{}{}:
		defer func() { <-e.turn }()
	case <-ctx.Done():
		return nil, fmt.Errorf("wait for other explanations: %w", context.Cause(ctx))
	}
	began := e.config.Now()
	answer := *question
	answer.TypeMeta.APIVersion, answer.TypeMeta.Kind = diagnosticsv1alpha1.GroupVersion.String(), "PodExplanation"
	if pod != nil {
		status, err = e.answer(ctx, pod, question.Spec, may)
	}
	if err != nil {
		return nil, err
	}
	if question.Spec.History && pod != nil {
		e.recall(pod, status)
	}
	status.Origin = e.origin(began)
	answer.Status = *status
	return &answer, nil
}

// pod is the pod as the scheduler knows it. The scheduler does not watch finished pods, so those are asked for.
func (e *Engine) pod(ctx context.Context, namespace, name string) (*corev1.Pod, error) {
	pod, err := e.pods.Pods(namespace).Get(name)
	if err == nil {
		return pod, nil
	}
	pod, err = e.config.Client.CoreV1().Pods(namespace).Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, apierrors.NewNotFound(corev1.Resource("pods"), name)
	}
	return pod, err
}

func (e *Engine) origin(began time.Time) diagnosticsv1alpha1.Origin {
	origin := diagnosticsv1alpha1.Origin{Component: "koord-scheduler", Instance: e.config.Identity, Leader: e.config.Leader()}
	origin.EvaluatedAt.Time = began
	origin.DurationMicroseconds = e.config.Now().Sub(began).Microseconds()
	return origin
}

// refresh brings the engine's snapshot up to date, which costs the scheduler's cache lock for as long as the nodes that
// changed take to copy.
func (e *Engine) refresh() (*clusterView, error) {
	if err := e.config.Cache.UpdateSnapshot(klog.Background(), e.snapshot); err != nil {
		return nil, fmt.Errorf("take a snapshot of the scheduler's cache: %w", err)
	}
	return newClusterView(e.snapshot, e.config.Parts), nil
}
