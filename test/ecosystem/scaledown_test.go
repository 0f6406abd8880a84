package ecosystem

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrlclient "sigs.k8s.io/controller-runtime/pkg/client"

	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/sandbox/scenario"
	"koordinator.sh/koord/test/sandboxtest"
)

// crowd is a service of which all pods are on one node, and which a HorizontalPodAutoscaler scales down a pod at a time.
const crowd = "crowd"

// scaleDownStepSeconds is longer than the test.
const scaleDownStepSeconds = 1800

// startCrowd creates the service, while no other node takes pods, with a load for which all of its pods are needed.
func (a *autoscaling) startCrowd(t *testing.T) {
	t.Helper()
	var nodes corev1.NodeList
	if err := a.rig.client.List(t.Context(), &nodes); err != nil {
		t.Fatal(err)
	}
	cordon := func(unschedulable bool) {
		for i := range nodes.Items {
			if name := nodes.Items[i].Name; name != scenario.NodeName(1) {
				a.patch(t, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}, fmt.Sprintf(`{"spec":{"unschedulable":%t}}`, unschedulable))
			}
		}
	}
	cordon(true)
	defer cordon(false)
	a.serves(crowd, 5)
	a.service(t, crowd, 5, "2")
	a.create(t, horizontalBy(a.namespace, crowd, 1, 5, &autoscalingv2.HorizontalPodAutoscalerBehavior{
		ScaleDown: &autoscalingv2.HPAScalingRules{StabilizationWindowSeconds: new(int32(0)), Policies: []autoscalingv2.HPAScalingPolicy{
			{Type: autoscalingv2.PodsScalingPolicy, Value: 1, PeriodSeconds: scaleDownStepSeconds},
		}},
	}))
	sandboxtest.Eventually(t, patience, func() error {
		pods, err := a.pods(t, crowd)
		if err == nil && len(pods) != 5 {
			err = fmt.Errorf("%d pods run, want 5", len(pods))
		}
		return err
	})
}

// horizontalBy is a HorizontalPodAutoscaler of a Deployment of its name, which keeps half of the CPU that is requested in use.
func horizontalBy(namespace, name string, least, most int32, behavior *autoscalingv2.HorizontalPodAutoscalerBehavior) *autoscalingv2.HorizontalPodAutoscaler {
	return &autoscalingv2.HorizontalPodAutoscaler{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
			ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: name},
			MinReplicas:    &least, MaxReplicas: most, Behavior: behavior,
			Metrics: []autoscalingv2.MetricSpec{{Type: autoscalingv2.ResourceMetricSourceType, Resource: &autoscalingv2.ResourceMetricSource{
				Name: corev1.ResourceCPU, Target: autoscalingv2.MetricTarget{Type: autoscalingv2.UtilizationMetricType, AverageUtilization: new(int32(50))},
			}}},
		},
	}
}

// pods of a service that run.
func (a *autoscaling) pods(t *testing.T, name string) ([]corev1.Pod, error) {
	t.Helper()
	var pods corev1.PodList
	err := a.rig.client.List(t.Context(), &pods, ctrlclient.InNamespace(a.namespace), ctrlclient.MatchingLabels{"app": name})
	return slices.DeleteFunc(pods.Items, func(pod corev1.Pod) bool { return !runs(&pod) }), err
}

func (a *autoscaling) patch(t *testing.T, object ctrlclient.Object, patch string) {
	t.Helper()
	if err := a.rig.client.Patch(t.Context(), object, ctrlclient.RawPatch("application/merge-patch+json", []byte(patch))); err != nil {
		t.Fatalf("patch %T %s: %v", object, object.GetName(), err)
	}
}

// scaleCrowdDown takes the load away, of which the autoscaler removes one pod and waits, and then has the pods that are left overload their node.
func (a *autoscaling) scaleCrowdDown(t *testing.T) {
	t.Helper()
	a.serves(crowd, 0.5)
	sandboxtest.Eventually(t, 3*patience, func() error {
		if err := a.scaled(t, crowd, 4); err != nil {
			return err
		}
		var h autoscalingv2.HorizontalPodAutoscaler
		if err := a.rig.client.Get(t.Context(), ctrlclient.ObjectKey{Namespace: a.namespace, Name: crowd}, &h); err != nil {
			return err
		}
		if !slices.ContainsFunc(h.Status.Conditions, func(c autoscalingv2.HorizontalPodAutoscalerCondition) bool { return c.Reason == "ScaleDownLimit" }) {
			return fmt.Errorf("conditions %+v, want one of reason ScaleDownLimit", h.Status.Conditions)
		}
		return nil
	})
	pods, err := a.pods(t, crowd)
	if err != nil {
		t.Fatal(err)
	}
	for i := range pods {
		a.patch(t, &pods[i], fmt.Sprintf(`{"metadata":{"annotations":{%q:"190",%q:"hot"}}}`, scenario.CPUPercentAnnotation, scenario.ProfileAnnotation))
	}
}

// staysWhereItIs wants koord-descheduler to mark pods for the scale-down, and to move none.
func (a *autoscaling) staysWhereItIs(t *testing.T) {
	t.Helper()
	sandboxtest.Eventually(t, 6*patience, func() error {
		var jobs schedulingv1alpha1.PodMigrationJobList
		if err := a.rig.client.List(t.Context(), &jobs); err != nil && !meta.IsNoMatchError(err) {
			return err
		}
		for i := range jobs.Items {
			if of := jobs.Items[i].Spec.PodRef; of != nil && of.Namespace == a.namespace && strings.HasPrefix(of.Name, crowd+"-") {
				t.Fatalf("koord-descheduler moves pod %s", of.Name)
			}
		}
		pods, err := a.pods(t, crowd)
		if err == nil && !slices.ContainsFunc(pods, func(pod corev1.Pod) bool { return pod.Annotations[corev1.PodDeletionCost] != "" }) {
			err = fmt.Errorf("none of %d pods is marked for the scale-down", len(pods))
		}
		return err
	})
}
