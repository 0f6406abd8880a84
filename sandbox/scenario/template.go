package scenario

import (
	"maps"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"koordinator.sh/koord/agent/host/simulated"
	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/sandbox/component"
)

// Annotations that tell the simulation how a pod behaves.
const (
	ProfileAnnotation    = simulated.AnnotationProfile
	CPUPercentAnnotation = simulated.AnnotationCPUPercent
	AgeAnnotation        = simulated.AnnotationAge
	RunSecondsAnnotation = component.RunSecondsAnnotation
)

// schedulerName is our scheduler's profile.
const schedulerName = "koord-scheduler"

// template is what the scenario's pods differ in.
type template struct {
	name, namespace string
	qos             extension.QoSClass
	priorityClass   string
	requests        corev1.ResourceList
	annotations     map[string]string
	nodeSelector    map[string]string
}

func plain(milliCPU, memoryGiB int64) corev1.ResourceList {
	return corev1.ResourceList{
		corev1.ResourceCPU:    *resource.NewMilliQuantity(milliCPU, resource.DecimalSI),
		corev1.ResourceMemory: *resource.NewQuantity(memoryGiB<<30, resource.BinarySI),
	}
}

func batch(milliCPU, memoryGiB int64) corev1.ResourceList {
	return corev1.ResourceList{
		extension.BatchCPU:    *resource.NewQuantity(milliCPU, resource.DecimalSI),
		extension.BatchMemory: *resource.NewQuantity(memoryGiB<<30, resource.BinarySI),
	}
}

func (t template) labels() map[string]string {
	return map[string]string{"app": t.name, extension.LabelPodQoS: string(t.qos)}
}

func (t template) podSpec(restart corev1.RestartPolicy) corev1.PodSpec {
	return corev1.PodSpec{
		SchedulerName:     schedulerName,
		PriorityClassName: t.priorityClass,
		RestartPolicy:     restart,
		NodeSelector:      t.nodeSelector,
		Containers: []corev1.Container{{
			Name:      "main",
			Image:     "sandbox.invalid/" + t.name, // nothing pulls it: the nodes are simulated
			Resources: corev1.ResourceRequirements{Requests: t.requests, Limits: t.limits()},
		}},
	}
}

// limits equal requests, but for the services' cpu, which they may exceed. Batch resources must not be overcommitted by
// the API server's rules for extended resources, and LSR pods own their cpus.
func (t template) limits() corev1.ResourceList {
	limits := maps.Clone(t.requests)
	if t.qos == extension.QoSLS {
		delete(limits, corev1.ResourceCPU)
	}
	return limits
}

func (t template) meta() metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: t.name, Namespace: t.namespace, Labels: t.labels(), Annotations: t.annotations}
}

func (t template) podTemplate(restart corev1.RestartPolicy) corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: t.labels(), Annotations: t.annotations},
		Spec:       t.podSpec(restart),
	}
}

func pod(t template) runtime.Object {
	return &corev1.Pod{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: t.meta(),
		Spec:       t.podSpec(corev1.RestartPolicyNever),
	}
}

func deployment(t template, replicas int32) runtime.Object {
	return &appsv1.Deployment{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"},
		ObjectMeta: metav1.ObjectMeta{Name: t.name, Namespace: t.namespace, Labels: t.labels()},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas,
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": t.name}},
			Template: t.podTemplate(corev1.RestartPolicyAlways),
		},
	}
}

func job(t template, parallelism, completions int32) runtime.Object {
	return &batchv1.Job{
		TypeMeta:   metav1.TypeMeta{APIVersion: "batch/v1", Kind: "Job"},
		ObjectMeta: metav1.ObjectMeta{Name: t.name, Namespace: t.namespace, Labels: t.labels()},
		Spec: batchv1.JobSpec{
			Parallelism: &parallelism,
			Completions: &completions,
			Template:    t.podTemplate(corev1.RestartPolicyNever),
		},
	}
}
