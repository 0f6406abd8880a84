package colocationprofile

import (
	"cmp"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"koordinator.sh/koord/api/extension"
)

// MaxTranslatable is the largest amount that is translated where it must be counted in thousandths: 9e15 cores, or bytes
// with a fraction. Beyond it a 64-bit integer would overflow, so such an amount is left.
const MaxTranslatable = int64(9e15)

// plain are the resources that have a counterpart in each tier, such as batch-cpu.
var plain = []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory}

// translation moves a pod's cpu and memory to a tier. It never loses an amount: what cannot be moved stays and is traced.
type translation struct {
	tier  extension.PriorityClass
	trace *Trace
}

func (t *translation) pod(pod *corev1.Pod, overhead bool) {
	t.wholePod(pod)
	for i := range pod.Spec.InitContainers {
		t.container(&pod.Spec.InitContainers[i], "spec.initContainers")
	}
	for i := range pod.Spec.Containers {
		t.container(&pod.Spec.Containers[i], "spec.containers")
	}
	if overhead {
		t.lists("spec.overhead", pod.Spec.Overhead, nil)
		return
	}
	for _, name := range plain {
		if quantity, ok := pod.Spec.Overhead[name]; ok {
			t.left("spec.overhead", name, quantity, "Kubernetes takes overhead from the RuntimeClass and rejects other values")
		}
	}
}

// container translates one container. A missing request is its limit first, as Kubernetes has it for cpu and memory.
func (t *translation) container(container *corev1.Container, path string) {
	resources := &container.Resources
	for _, name := range append(plain[:2:2], t.name(corev1.ResourceCPU), t.name(corev1.ResourceMemory)) {
		limit, limited := resources.Limits[name]
		if _, requested := resources.Requests[name]; limited && !requested {
			if resources.Requests == nil {
				resources.Requests = corev1.ResourceList{}
			}
			resources.Requests[name] = limit
		}
	}
	if t.trace != nil {
		path = fmt.Sprintf("%s[%s].resources", path, container.Name)
	}
	t.lists(path, resources.Requests, resources.Limits)
}

// lists translates requests and limits together: a resource of which one cannot be moved stays in both, or else a request
// would lie in one tier and its limit in another.
func (t *translation) lists(path string, requests, limits corev1.ResourceList) {
	for _, name := range plain {
		why := cmp.Or(t.obstacle(requests, name), t.obstacle(limits, name))
		t.section(path, ".requests", requests, name, why)
		t.section(path, ".limits", limits, name, why)
	}
}

// section translates one resource of one list, unless there is an obstacle.
func (t *translation) section(path, section string, list corev1.ResourceList, name corev1.ResourceName, obstacle string) {
	quantity, ok := list[name]
	switch {
	case !ok:
	case obstacle != "":
		t.left(path+section, name, quantity, obstacle)
	default:
		t.move(list, path+section, name)
	}
}

// obstacle says why an amount of a list cannot be moved; empty when it can.
func (t *translation) obstacle(list corev1.ResourceList, name corev1.ResourceName) string {
	target := t.name(name)
	if _, taken := list[target]; taken {
		return fmt.Sprintf("%s is already set", target)
	}
	if quantity, ok := list[name]; ok {
		if _, fits := convert(name, quantity); !fits {
			return "the amount is too large to count in whole units"
		}
	}
	return ""
}

func (t *translation) move(list corev1.ResourceList, path string, name corev1.ResourceName) {
	quantity, target := list[name], t.name(name)
	translated, _ := convert(name, quantity)
	delete(list, name)
	list[target] = translated
	if t.trace != nil {
		t.trace.amount(path, target, Change{Outcome: Changed, After: translated.String(), Reason: fmt.Sprintf("%s %s", name, quantity.String())})
	}
}

func (t *translation) name(name corev1.ResourceName) corev1.ResourceName {
	return extension.TranslateResourceName(t.tier, name)
}

func (t *translation) left(path string, name corev1.ResourceName, quantity resource.Quantity, why string) {
	if t.trace != nil {
		t.trace.amount(path, name, Change{Outcome: Left, Before: quantity.String(), After: quantity.String(), Reason: why})
	}
}

// convert returns the amount in units of the tier: cpu in thousandths of a core, memory in whole bytes, rounded up. It is
// false for amounts beyond MaxTranslatable.
func convert(name corev1.ResourceName, quantity resource.Quantity) (resource.Quantity, bool) {
	whole := wholeNumber(quantity)
	if name == corev1.ResourceMemory && whole {
		return quantity, true
	}
	if quantity.CmpInt64(MaxTranslatable) > 0 {
		return resource.Quantity{}, false
	}
	if name == corev1.ResourceMemory {
		return *resource.NewQuantity((quantity.MilliValue()+999)/1000, resource.DecimalSI), true
	}
	return *resource.NewQuantity(quantity.MilliValue(), resource.DecimalSI), true
}

func wholeNumber(quantity resource.Quantity) bool {
	rounded := quantity.DeepCopy()
	return rounded.RoundUp(0)
}
