package colocationprofile_test

import (
	"fmt"
	"math/big"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"pgregory.net/rapid"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/admission/colocationprofile"
	"koordinator.sh/koord/test/profilecases"
)

func TestCasesAreIdempotentWithoutFeedback(t *testing.T) {
	for _, test := range profilecases.All() {
		t.Run(test.Name, func(t *testing.T) {
			in := inputOf(t, test)
			once, err := colocationprofile.Decide(in, nil)
			if err != nil || len(colocationprofile.Feedback(in.Profiles, in.PriorityClasses)) > 0 {
				return
			}
			in.Pod = once
			twice, err := colocationprofile.Decide(in, nil)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(asJSON(t, once), asJSON(t, twice)); diff != "" {
				t.Errorf("twice is not once (-once +twice):\n%s", diff)
			}
		})
	}
}

func TestProfilesWithoutFeedbackAreIdempotent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := colocationprofile.Input{
			Pod: profilecases.DrawPod(t), Namespace: profilecases.Namespace, NamespaceLabels: profilecases.NamespaceLabels(),
			Profiles: profilecases.DrawProfiles(t), PriorityClasses: profilecases.PriorityClasses(),
		}
		if len(colocationprofile.Feedback(in.Profiles, in.PriorityClasses)) > 0 {
			t.Skip("feedback")
		}
		once, err := colocationprofile.Decide(in, nil)
		if err != nil {
			t.Fatal(err)
		}
		in.Pod = once
		twice, err := colocationprofile.Decide(in, nil)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(once, twice, cmp.Comparer(resource.Quantity.Equal)); diff != "" {
			t.Errorf("twice is not once (-once +twice):\n%s", diff)
		}
	})
}

// total adds up cpu in thousandths and memory in thousandths of bytes over all containers, whatever they are called.
func total(pod *corev1.Pod, section func(*corev1.Container) corev1.ResourceList) (cpu, memory *big.Int) {
	cpu, memory = big.NewInt(0), big.NewInt(0)
	for _, containers := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range containers {
			for name, quantity := range section(&containers[i]) {
				milli := new(big.Int).Set(quantity.AsDec().UnscaledBig())
				for scale := int(quantity.AsDec().Scale()); scale < 3; scale++ {
					milli.Mul(milli, big.NewInt(10))
				}
				for scale := int(quantity.AsDec().Scale()); scale > 3; scale-- {
					milli.Div(milli, big.NewInt(10))
				}
				switch name {
				case corev1.ResourceCPU:
					cpu.Add(cpu, milli)
				case extension.BatchCPU, extension.MidCPU:
					cpu.Add(cpu, milli.Div(milli, big.NewInt(1000)))
				case corev1.ResourceMemory, extension.BatchMemory, extension.MidMemory:
					memory.Add(memory, milli)
				}
			}
		}
	}
	return cpu, memory
}

func TestNoAmountIsLost(t *testing.T) {
	sections := map[string]func(*corev1.Container) corev1.ResourceList{
		"requests": func(c *corev1.Container) corev1.ResourceList { return c.Resources.Requests },
		"limits":   func(c *corev1.Container) corev1.ResourceList { return c.Resources.Limits },
	}
	rapid.Check(t, func(t *rapid.T) {
		pod := profilecases.DrawPod(t)
		result, err := colocationprofile.Decide(colocationprofile.Input{
			Pod: pod, Namespace: profilecases.Namespace, NamespaceLabels: profilecases.NamespaceLabels(),
			Profiles: profilecases.DrawProfiles(t), PriorityClasses: profilecases.PriorityClasses(),
		}, nil)
		if err != nil {
			t.Fatal(err)
		}
		for name, section := range sections {
			cpuBefore, memoryBefore := total(pod, section)
			cpuAfter, memoryAfter := total(result, section)
			if cpuBefore.Cmp(cpuAfter) != 0 {
				t.Errorf("%s: cpu was %s and is %s thousandths", name, cpuBefore, cpuAfter)
			}
			// Every container may round its memory up to a whole byte.
			containers := int64(len(pod.Spec.Containers) + len(pod.Spec.InitContainers))
			gained := new(big.Int).Sub(memoryAfter, memoryBefore)
			if gained.Sign() < 0 || gained.Cmp(big.NewInt(1000*containers)) >= 0 {
				t.Errorf("%s: memory was %s and is %s thousandths of a byte", name, memoryBefore, memoryAfter)
			}
		}
	})
}

func TestTheRequestOfAWholePodIsKeptToTheLastUnit(t *testing.T) {
	batch := profilecases.BatchProfile()
	rapid.Check(t, func(t *rapid.T) {
		pod := profilecases.DrawPod(t)
		pod.Spec.InitContainers, pod.Labels = nil, nil
		sum := int64(0)
		for i := range pod.Spec.Containers {
			milli := rapid.Int64Range(0, 1<<40).Draw(t, fmt.Sprintf("container %d", i))
			list := corev1.ResourceList{corev1.ResourceCPU: *resource.NewMilliQuantity(milli, resource.DecimalSI)}
			pod.Spec.Containers[i].Resources = corev1.ResourceRequirements{Requests: list}
			if rapid.Bool().Draw(t, fmt.Sprintf("limited %d", i)) {
				pod.Spec.Containers[i].Resources.Limits = list.DeepCopy()
			}
			sum += milli
		}
		whole := sum + rapid.Int64Range(0, 1<<40).Draw(t, "rest")
		pod.Spec.Resources = &corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: *resource.NewMilliQuantity(whole, resource.DecimalSI)}}
		result, err := colocationprofile.Decide(colocationprofile.Input{
			Pod: pod, Namespace: profilecases.Namespace, Profiles: batch, PriorityClasses: profilecases.PriorityClasses(),
		}, nil)
		if err != nil {
			t.Fatal(err)
		}
		got := int64(0)
		for i := range result.Spec.Containers {
			resources := result.Spec.Containers[i].Resources
			request, limit := resources.Requests[extension.BatchCPU], resources.Limits[extension.BatchCPU]
			if _, limited := resources.Limits[extension.BatchCPU]; limited && request.Cmp(limit) > 0 {
				t.Errorf("container %d requests %s and is limited to %s", i, request.String(), limit.String())
			}
			got += request.Value()
		}
		if got != whole || result.Spec.Resources != nil {
			t.Errorf("%d thousandths became %d, and %v stayed", whole, got, result.Spec.Resources)
		}
	})
}
