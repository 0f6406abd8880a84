package elasticworkers

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/decision/core/podrequest"
	"koordinator.sh/koord/decision/noderesource/workers"
	"koordinator.sh/koord/decision/scheduling/nodefit"
)

// target is the target of ElasticWorkers as it was read.
type target struct {
	scale *autoscalingv1.Scale
	pods  []worker
}

// worker is a pod of a target, and how it drains; nil where it does not.
type worker struct {
	pod  *corev1.Pod
	mark *mark
	// message is how far it is.
	message string
}

// target reads the scale and the pods of a target, or says why it is not sized.
func (r *reconciler) target(ctx context.Context, object *schedulingv1alpha1.ElasticWorkers, s *snapshot) (*target, *refusal, error) {
	if refusal := s.conflict(object); refusal != nil {
		return nil, refusal, nil
	}
	scale, err := r.scales.get(ctx, object.Namespace, object.Spec.TargetRef)
	if err != nil {
		refusal, err := unusable(object, err)
		return nil, refusal, err
	}
	selector, err := labels.Parse(scale.Status.Selector)
	if err != nil || selector.Empty() {
		return nil, unselected(object), nil
	}
	var pods corev1.PodList
	if err := r.live.List(ctx, &pods, client.InNamespace(object.Namespace), client.MatchingLabelsSelector{Selector: selector}); err != nil {
		return nil, nil, fmt.Errorf("list the pods of %s %q: %w", object.Spec.TargetRef.Kind, object.Spec.TargetRef.Name, err)
	}
	t := &target{scale: scale}
	for i := range pods.Items {
		if pod := &pods.Items[i]; pod.DeletionTimestamp == nil && podrequest.Consumes(pod) {
			t.pods = append(t.pods, worker{pod: pod, mark: markOf(pod, object)})
		}
	}
	slices.SortFunc(t.pods, func(a, b worker) int { return cmp.Compare(a.pod.Name, b.pod.Name) })
	t.drop()
	return t, nil, nil
}

// drop leaves out workers that have finished and that the target does not count any more: its controller is about to delete them.
func (t *target) drop() {
	leaving := len(t.pods) - int(t.scale.Spec.Replicas)
	t.pods = slices.DeleteFunc(t.pods, func(w worker) bool {
		if leaving <= 0 || w.mark == nil || !w.mark.Done {
			return false
		}
		leaving--
		return true
	})
}

func (t *target) draining() []*worker {
	var out []*worker
	for i := range t.pods {
		if t.pods[i].mark != nil {
			out = append(out, &t.pods[i])
		}
	}
	return out
}

// sample is a worker by which others are known; nil where there is none. The youngest was made from the latest template.
func (t *target) sample() *corev1.Pod {
	var youngest *corev1.Pod
	for i := range t.pods {
		if pod := t.pods[i].pod; youngest == nil || pod.CreationTimestamp.After(youngest.CreationTimestamp.Time) {
			youngest = pod
		}
	}
	return youngest
}

// input is what the size is decided by.
func (s *snapshot) input(object *schedulingv1alpha1.ElasticWorkers, t *target, now time.Time) workers.Input {
	in := workers.Input{Now: now, Spec: specOf(&object.Spec), Current: t.scale.Spec.Replicas, Budgets: map[string]int32{}, History: historyOf(&object.Status)}
	sample := t.sample()
	if sample != nil {
		in.Request = workers.RequestOf(nodefit.RequestsOf(sample))
	} else {
		in.Request = workers.RequestOf(object.Status.WorkerRequests)
	}
	own := map[types.UID]bool{}
	for i := range t.pods {
		own[t.pods[i].pod.UID] = true
		in.Pods = append(in.Pods, s.pod(object, &t.pods[i], in.Budgets))
	}
	s.cluster.Read(&in, sample, own)
	return in
}

// pod reads one worker. PodDisruptionBudgets count where its pods are to go as if they were evicted.
func (s *snapshot) pod(object *schedulingv1alpha1.ElasticWorkers, w *worker, budgets map[string]int32) workers.Pod {
	pod := w.pod
	out := workers.Pod{
		Name: pod.Name, Node: pod.Spec.NodeName, Created: pod.CreationTimestamp.Time, Used: -1, Draining: w.mark != nil, Ordinal: ordinal(pod),
	}
	if used, measured := s.used[client.ObjectKeyFromObject(pod)]; measured {
		out.Used = used
	}
	if object.Spec.Drain == nil || object.Spec.Drain.Evict == nil {
		return out
	}
	for i := range s.budgets[pod.Namespace] {
		budget := &s.budgets[pod.Namespace][i]
		selector, err := metav1.LabelSelectorAsSelector(budget.Spec.Selector)
		if err == nil && selector.Matches(labels.Set(pod.Labels)) {
			out.Budgets = append(out.Budgets, budget.Name)
			budgets[budget.Name] = budget.Status.DisruptionsAllowed
		}
	}
	return out
}

// ordinal of a pod of a StatefulSet; 0 for any other.
func ordinal(pod *corev1.Pod) int {
	number, err := strconv.Atoi(pod.Name[strings.LastIndex(pod.Name, "-")+1:])
	if err != nil {
		return 0
	}
	return number
}

func specOf(spec *schedulingv1alpha1.ElasticWorkersSpec) workers.Spec {
	return workers.Spec{
		Min: spec.MinReplicas, Max: spec.MaxReplicas, HeadroomPercent: orElse(spec.HeadroomPercent, 10), Horizon: seconds(spec.HorizonSeconds, 900),
		Up: rateOf(spec.ScaleUp, 0), Down: rateOf(spec.ScaleDown, 300), Ordinals: spec.TargetRef.Kind == "StatefulSet",
	}
}

func rateOf(rate *schedulingv1alpha1.ElasticWorkersRate, stabilization int32) workers.Rate {
	if rate == nil {
		rate = &schedulingv1alpha1.ElasticWorkersRate{}
	}
	return workers.Rate{
		Pods: orElse(rate.Pods, 10), Period: seconds(rate.PeriodSeconds, 60), Stabilization: seconds(rate.StabilizationSeconds, stabilization),
	}
}

func orElse(value *int32, otherwise int32) int32 {
	if value == nil {
		return otherwise
	}
	return *value
}

func seconds(value *int32, otherwise int32) time.Duration {
	return time.Duration(orElse(value, otherwise)) * time.Second
}

func historyOf(status *schedulingv1alpha1.ElasticWorkersStatus) workers.History {
	var out workers.History
	if status.LastScaleUpTime != nil {
		out.Up = status.LastScaleUpTime.Time
	}
	if status.LastScaleDownTime != nil {
		out.Down = status.LastScaleDownTime.Time
	}
	if trend := status.Trend; trend != nil {
		out.Trend = &workers.Trend{Direction: workers.Direction(trend.Direction), Since: trend.Since.Time, Replicas: trend.Replicas}
	}
	return out
}
