package scheduleexplanations

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

func ttl(d time.Duration) func(*schedulingv1alpha1.ScheduleExplanation) {
	return func(object *schedulingv1alpha1.ScheduleExplanation) { object.Spec.TTL = &metav1.Duration{Duration: d} }
}

func inGang(name string) func(*corev1.Pod) {
	return func(pod *corev1.Pod) { pod.Labels = map[string]string{extension.LabelPodGroup: name} }
}

func TestAnObjectIsAnswered(t *testing.T) {
	inBubble(t, func(f *fixture) {
		f.ask("default/a")
		status := f.get(whyKey).Status
		if len(status.DetailedExplanation) != 1 || !strings.Contains(status.FailedMessage, "KOORD1901") || status.LastUpdateTime == nil {
			t.Errorf("status %+v", status)
		}
		f.after(10 * time.Minute)
		if f.questions() != 1 || f.written() != 1 {
			t.Errorf("%d questions and %d writes although nothing changed, want 1", f.questions(), f.written())
		}
	}, newPod("a"))
}

func TestAnAnswerIsRefreshed(t *testing.T) {
	inBubble(t, func(f *fixture) {
		f.ask("a")
		f.set(says(schedulable("n1")))
		f.add(newNode("n1", "z"))
		f.after(30 * time.Second)
		if f.get(whyKey).Status.Schedulable {
			t.Error("a node came: answered before the interval was over")
		}
		f.after(refreshInterval)
		if !f.get(whyKey).Status.Schedulable || f.questions() != 2 {
			t.Errorf("a node came: not answered after the interval, %d questions", f.questions())
		}
		f.add(newNode("n2", "z"))
		f.after(2 * refreshInterval)
		if f.questions() != 3 || f.written() != 2 {
			t.Errorf("a node came that changes nothing: %d questions, want 3, and %d writes, want 2", f.questions(), f.written())
		}
	}, newPod("a"))
}

func TestAChangeOfThePodIsAnsweredAtOnceButNotAllTheTime(t *testing.T) {
	pod := newPod("a")
	inBubble(t, func(f *fixture) {
		f.ask("a")
		f.after(spacing)
		f.update(pod, func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{"disk": "ssd"} })
		f.after(0)
		if f.questions() != 2 {
			t.Fatalf("the pod changed: %d questions, want 2", f.questions())
		}
		for i := range 40 {
			f.update(pod, func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{"disk": fmt.Sprint(i)} })
			f.after(time.Second)
		}
		if most := 2 + 40/int(spacing/time.Second); f.questions() > most || f.questions() < most-1 {
			t.Errorf("the pod changed every second for 40 s: %d questions, want %d", f.questions(), most)
		}
		before := f.questions()
		f.update(pod, func(p *corev1.Pod) { p.Spec.NodeSelector = nil })
		f.after(spacing)
		f.update(pod, func(p *corev1.Pod) { p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled}} })
		f.after(spacing)
		if f.questions() != before+1 {
			t.Errorf("the scheduler wrote a condition: %d questions, want %d", f.questions(), before+1)
		}
	}, pod)
}

func TestAnObjectGoesWithItsPod(t *testing.T) {
	inBubble(t, func(f *fixture) {
		f.ask("a")
		f.delete("a")
		f.after(time.Second)
		if f.get(whyKey) != nil {
			t.Error("the pod is gone and the object is not")
		}
	}, newPod("a"))
}

func TestAPodThatFinishesKeepsItsObjectUntilItIsDeleted(t *testing.T) {
	for name, pod := range map[string]*corev1.Pod{"a": newPod("a"), "train": newPod("a", inGang("train"))} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(f *fixture) {
				f.ask(name)
				f.finish(pod)
				f.after(spacing)
				if got := f.get(whyKey); got == nil || got.Status.FailedMessage != "the pod has succeeded" || f.questions() != 1 {
					t.Errorf("%d questions, object %+v", f.questions(), got)
				}
				if err := f.finished.Tracker().Delete(corev1.SchemeGroupVersion.WithResource("pods"), "default", "a"); err != nil {
					t.Fatal(err)
				}
				f.after(refreshInterval + time.Second)
				if f.get(whyKey) != nil {
					t.Error("the pod is gone and the object is not")
				}
			}, pod)
		})
	}
}

func TestAPodMayComeAfterTheQuestion(t *testing.T) {
	inBubble(t, func(f *fixture) {
		f.ask("a")
		if got := f.get(whyKey).Status.FailedMessage; got != "there is no pod, job or gang default/a" {
			t.Errorf("message %q", got)
		}
		f.add(newPod("a"))
		f.after(time.Second)
		if got := f.get(whyKey).Status.FailedMessage; !strings.Contains(got, "KOORD1901") {
			t.Errorf("message %q after the pod came", got)
		}
	})
}

func TestTimeToLive(t *testing.T) {
	tests := map[string]struct {
		edits   []func(*schedulingv1alpha1.ScheduleExplanation)
		wantFor time.Duration // 0 for ever
	}{
		"a day when it is not given": {wantFor: 24 * time.Hour},
		"what is given":              {edits: []func(*schedulingv1alpha1.ScheduleExplanation){ttl(10 * time.Minute)}, wantFor: 10 * time.Minute},
		"less than the interval":     {edits: []func(*schedulingv1alpha1.ScheduleExplanation){ttl(20 * time.Second)}, wantFor: 20 * time.Second},
		"for ever":                   {edits: []func(*schedulingv1alpha1.ScheduleExplanation){ttl(0)}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(f *fixture) {
				f.ask("a", test.edits...)
				if test.wantFor == 0 {
					f.after(72 * time.Hour)
					if f.get(whyKey) == nil {
						t.Error("removed")
					}
					return
				}
				f.after(test.wantFor - 3*time.Second)
				if f.get(whyKey) == nil {
					t.Error("removed too early")
				}
				f.after(4 * time.Second)
				if f.get(whyKey) != nil {
					t.Error("not removed")
				}
			}, newPod("a"))
		})
	}
}

func TestTimeToLiveEndsForQuestionsWithoutAnAnswer(t *testing.T) {
	inBubble(t, func(f *fixture) {
		f.ask("", ttl(time.Minute))
		f.after(time.Minute)
		if f.get(whyKey) != nil {
			t.Error("not removed")
		}
	})
}

func TestQuestionsThatCannotBeAnsweredSayWhy(t *testing.T) {
	tests := map[string]struct {
		key  string
		edit func(*schedulingv1alpha1.ScheduleExplanation)
		want string
	}{
		"no key":           {want: "spec.questionObjectKey is empty"},
		"a key of slashes": {key: "a/b/c", want: `"a/b/c", which is not namespace/name`},
		"a template": {key: "default/a", edit: func(o *schedulingv1alpha1.ScheduleExplanation) {
			o.Spec.QuestionObjectTemplate = &corev1.PodTemplateSpec{}
		}, want: "spec.questionObjectTemplate is not supported"},
		"another namespace": {key: "shop/a", want: `names namespace "shop": create the ScheduleExplanation there`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(f *fixture) {
				f.ask(test.key, func(o *schedulingv1alpha1.ScheduleExplanation) {
					if test.edit != nil {
						test.edit(o)
					}
				})
				got := f.get(whyKey).Status
				if !strings.Contains(got.FailedMessage, test.want) || got.Schedulable || f.questions() != 0 {
					t.Errorf("status %+v, want %q", got, test.want)
				}
			}, newPod("a"), newPod("a", func(p *corev1.Pod) { p.Namespace, p.UID = "shop", "other" }))
		})
	}
}

// inSystem has the question asked in the namespace of the system, where the answer names everything.
func inSystem(o *schedulingv1alpha1.ScheduleExplanation) { o.Namespace = "koordinator-system" }

const systemKey = "koordinator-system/why"

func TestTheSystemNamespaceAsksAboutAll(t *testing.T) {
	inBubble(t, func(f *fixture) {
		f.ask("default/a", inSystem)
		if got := f.get(systemKey).Status; len(got.DetailedExplanation) != 1 {
			t.Errorf("status %+v", got)
		}
	}, newPod("a"))
}

func TestAGangIsAskedAboutOnce(t *testing.T) {
	var pods []*corev1.Pod
	for i := range 5 {
		pods = append(pods, newPod(fmt.Sprint("worker-", i), inGang("train")))
	}
	odd := newPod("driver", inGang("train"), func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{"disk": "ssd"} })
	labelled := newPod("helper", func(p *corev1.Pod) { p.Labels = map[string]string{extension.LabelQuestionedObjectKey: "train"} })
	inBubble(t, func(f *fixture) {
		for _, pod := range pods {
			f.add(pod)
		}
		f.ask("default/train")
		slices.Sort(f.asked)
		want := []string{"default/driver", "default/helper", "default/worker-0"}
		if !slices.Equal(f.asked, want) {
			t.Errorf("asked %v, want %v", f.asked, want)
		}
		message := f.get(whyKey).Status.FailedMessage
		if !strings.HasPrefix(message, "5 of 7 pods, such as default/worker-0: 0/3 nodes") {
			t.Errorf("message %q", message)
		}
	}, odd, labelled)
}

func TestAPodMayJoinAGangLater(t *testing.T) {
	pod := newPod("a")
	inBubble(t, func(f *fixture) {
		f.ask("train")
		f.update(pod, inGang("train"))
		f.after(time.Second)
		if got := f.get(whyKey).Status.FailedMessage; !strings.Contains(got, "KOORD1901") {
			t.Errorf("message %q after the pod joined", got)
		}
	}, pod)
}

func TestAPodMayLeaveAGang(t *testing.T) {
	inBubble(t, func(f *fixture) {
		f.ask("train")
		f.after(spacing)
		f.update(newPod("b", inGang("train")), func(p *corev1.Pod) { p.Labels = nil })
		f.after(time.Second)
		if got := f.get(whyKey).Status.FailedMessage; !strings.HasPrefix(got, "0/3 nodes") {
			t.Errorf("message %q after one of two pods left", got)
		}
	}, newPod("a", inGang("train")), newPod("b", inGang("train")))
}

func TestAJobIsItsPods(t *testing.T) {
	ofJob := func(p *corev1.Pod) {
		p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "batch/v1", Kind: "Job", Name: "report", Controller: new(true)}}
	}
	inBubble(t, func(f *fixture) {
		f.ask("default/report")
		if got := f.get(whyKey).Status.FailedMessage; !strings.HasPrefix(got, "2 of 2 pods, such as default/x: ") {
			t.Errorf("message %q", got)
		}
	}, newPod("x", ofJob), newPod("y", ofJob))
}

func TestAGroupOfGangsIsOneQuestion(t *testing.T) {
	inBubble(t, func(f *fixture) {
		f.ask("default/a,default/b")
		if message := f.get(whyKey).Status.FailedMessage; !strings.HasPrefix(message, "2 of 2 pods") && !strings.Contains(message, "pod default/y of 2") {
			t.Errorf("message %q", message)
		}
	}, newPod("x", inGang("a")), newPod("y", inGang("b")))
}

func TestTheTopologyKeyComesFromTheObjectOrThePod(t *testing.T) {
	labelled := newPod("a", func(p *corev1.Pod) { p.Labels = map[string]string{extension.LabelTopologyKeyToExplain: "zone"} })
	inBubble(t, func(f *fixture) {
		f.ask("default/a", inSystem)
		if got := f.get(systemKey).Status.DetailedExplanation; len(got) != 2 || got[0].TopologyDomain != "east" || got[1].TopologyDomain != "west" {
			t.Errorf("details %+v", got)
		}
		object := f.get(systemKey)
		object.Annotations = map[string]string{extension.LabelTopologyKeyToExplain: "none/has"}
		f.put(object)
		f.after(spacing)
		if got := f.get(systemKey).Status.DetailedExplanation; len(got) != 1 || got[0].TopologyDomain != "" {
			t.Errorf("details %+v, want one for the cluster", got)
		}
	}, labelled, newNode("n1", "east"), newNode("n2", "west"), newNode("n3", "west"))
}

func TestFailedWritesAreRetriedWithoutAskingAgain(t *testing.T) {
	inBubble(t, func(f *fixture) {
		f.failures = []error{errors.New("down"), errors.New("down"), errors.New("down")}
		f.ask("a")
		f.after(time.Second) // 1 s, then 2 s more
		if f.written() != 0 {
			t.Error("written before the API server was back")
		}
		f.after(10 * time.Second)
		if f.written() != 1 || f.questions() != 1 {
			t.Errorf("%d writes and %d questions, want 1", f.written(), f.questions())
		}
	}, newPod("a"))
}

func TestAFailedRemovalIsRetried(t *testing.T) {
	inBubble(t, func(f *fixture) {
		f.ask("a")
		f.store.mutex.Lock()
		f.failures = []error{errors.New("down")}
		f.store.mutex.Unlock()
		f.delete("a")
		f.after(3 * time.Second)
		if f.get(whyKey) != nil {
			t.Error("not removed")
		}
	}, newPod("a"))
}

func TestAnExplanationThatFailsSaysSoAndIsRetried(t *testing.T) {
	inBubble(t, func(f *fixture) {
		f.set(func(string, string) (*diagnosticsv1alpha1.PodExplanationStatus, error) {
			return nil, errors.New("no snapshot")
		})
		f.ask("a")
		if got := f.get(whyKey).Status.FailedMessage; got != "the scheduler could not answer; see its log for the reason" {
			t.Errorf("message %q", got)
		}
		f.after(time.Minute)
		if f.questions() < 4 || f.questions() > 8 {
			t.Errorf("%d questions in a minute, want some, further and further apart", f.questions())
		}
		f.set(says(schedulable("n1")))
		f.after(2 * time.Minute)
		if !f.get(whyKey).Status.Schedulable {
			t.Errorf("status %+v", f.get(whyKey).Status)
		}
	}, newPod("a"))
}

func TestTheSystemNamespaceIsToldWhatFailed(t *testing.T) {
	inBubble(t, func(f *fixture) {
		f.set(func(string, string) (*diagnosticsv1alpha1.PodExplanationStatus, error) {
			return nil, errors.New("no snapshot")
		})
		f.ask("default/a", inSystem)
		if got := f.get(systemKey).Status.FailedMessage; got != "the scheduler could not answer: explain pod default/a: no snapshot" {
			t.Errorf("message %q", got)
		}
	}, newPod("a"))
}

func TestExplanationsTakeATenthOfTheTime(t *testing.T) {
	var objects []*corev1.Pod
	for i := range 50 {
		objects = append(objects, newPod(fmt.Sprint("p", i)))
	}
	inBubble(t, func(f *fixture) {
		f.oracle.mutex.Lock()
		f.took = 300 * time.Millisecond
		f.oracle.mutex.Unlock()
		for i, pod := range objects {
			f.add(pod)
			object := newExplanation(pod.Name)
			object.Name, object.UID, object.CreationTimestamp = fmt.Sprint("why-", i), pod.UID, metav1.Now()
			f.put(object)
		}
		f.after(time.Minute)
		if asked := f.questions(); asked < 15 || asked > 25 {
			t.Errorf("%d questions of 300 ms in a minute, want 20", asked)
		}
	})
}

func TestAnObjectOfTheSameNameIsAnotherQuestion(t *testing.T) {
	inBubble(t, func(f *fixture) {
		f.ask("a")
		object := newExplanation("a")
		object.UID, object.CreationTimestamp = "another", metav1.Now()
		f.put(object)
		f.after(time.Second)
		if f.questions() != 2 || f.get(whyKey).Status.LastUpdateTime == nil {
			t.Errorf("%d questions, status %+v", f.questions(), f.get(whyKey).Status)
		}
	}, newPod("a"))
}
