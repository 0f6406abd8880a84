package reservationview

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

func cpu(cores string) corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cores)}
}

// makeReservation holds 8 cores, of which some are taken.
func makeReservation(name, taken string, owners ...string) schedulingv1alpha1.Reservation {
	r := schedulingv1alpha1.Reservation{
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID("uid-" + name)},
		Status:     schedulingv1alpha1.ReservationStatus{Phase: schedulingv1alpha1.ReservationAvailable, NodeName: "node", Allocatable: cpu("8"), Allocated: cpu(taken)},
	}
	for _, owner := range owners {
		r.Status.CurrentOwners = append(r.Status.CurrentOwners, corev1.ObjectReference{Namespace: "shop", Name: owner})
	}
	return r
}

// makeUser is a pod of 2 cores that uses a Reservation.
func makeUser(name, reservation string) corev1.Pod {
	return corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, UID: types.UID(name), Annotations: map[string]string{
			extension.AnnotationReservationAllocated: fmt.Sprintf(`{"name":%q,"uid":"uid-%s"}`, reservation, reservation),
		}},
		Spec:   corev1.PodSpec{NodeName: "node", Containers: []corev1.Container{{Resources: corev1.ResourceRequirements{Requests: cpu("2")}}}},
		Status: corev1.PodStatus{Phase: corev1.PodRunning},
	}
}

// lines of overviews: state, what is taken, reserved and free, and the pods.
func lines(all []diagnosticsv1alpha1.ReservationOverview) []string {
	var out []string
	for _, r := range all {
		line := r.Name + " " + string(r.State)
		for _, a := range r.Resources {
			line += fmt.Sprintf(" %d/%d free %d", a.Allocated, a.Reserved, a.Free)
		}
		for _, p := range r.Pods {
			line += fmt.Sprintf(" %s[%s", p.Name, p.Phase)
			if p.Gone {
				line += "gone"
			}
			for _, request := range p.Requests {
				line += fmt.Sprintf(" %d", request.Amount)
			}
			line += "]"
		}
		out = append(out, line)
	}
	return out
}

func TestReservationsAndTheirPods(t *testing.T) {
	tests := map[string]struct {
		in   Input
		want []string
	}{
		"a pod uses it": {
			in:   Input{Reservations: []schedulingv1alpha1.Reservation{makeReservation("night", "2", "web")}, Pods: []corev1.Pod{makeUser("web", "night")}},
			want: []string{"night Used 2000/8000 free 6000 web[Running 2000]"},
		},
		"no pod uses it": {
			in:   Input{Reservations: []schedulingv1alpha1.Reservation{makeReservation("night", "0")}},
			want: []string{"night Idle 0/8000 free 8000"},
		},
		"a pod is not published yet": {
			in:   Input{Reservations: []schedulingv1alpha1.Reservation{makeReservation("night", "0")}, Pods: []corev1.Pod{makeUser("web", "night")}},
			want: []string{"night Idle 0/8000 free 8000 web[Running 2000]"},
		},
		"a published pod is gone": {
			in:   Input{Reservations: []schedulingv1alpha1.Reservation{makeReservation("night", "2", "web")}},
			want: []string{"night Used 2000/8000 free 6000 web[gone]"},
		},
		"pods cannot be seen": {
			in:   Input{Reservations: []schedulingv1alpha1.Reservation{makeReservation("night", "2", "web")}, Unseen: true},
			want: []string{"night Used 2000/8000 free 6000 web[]"},
		},
		"it was used once and holds nothing any more": {
			in: Input{Reservations: func() []schedulingv1alpha1.Reservation {
				r := makeReservation("night", "2", "web")
				r.Status.Phase = schedulingv1alpha1.ReservationSucceeded
				return []schedulingv1alpha1.Reservation{r}
			}(), Pods: []corev1.Pod{makeUser("web", "night")}},
			want: []string{"night Succeeded web[Running]"},
		},
		"too much is taken": {
			in:   Input{Reservations: []schedulingv1alpha1.Reservation{makeReservation("night", "9", "web")}, Unseen: true},
			want: []string{"night Overused 9000/8000 free 0 web[]"},
		},
		"the Reservation of a pod does not exist": {
			in:   Input{Pods: []corev1.Pod{makeUser("web", "gone"), makeUser("app", "gone")}},
			want: []string{"gone Missing app[Running] web[Running]"},
		},
		"a new Reservation of the same name is another one": {
			in: Input{Reservations: []schedulingv1alpha1.Reservation{makeReservation("night", "0")}, Pods: func() []corev1.Pod {
				pod := makeUser("web", "night")
				pod.Annotations[extension.AnnotationReservationAllocated] = `{"name":"night","uid":"older"}`
				return []corev1.Pod{pod}
			}()},
			want: []string{"night Idle 0/8000 free 8000", "night Missing web[Running]"},
		},
		"a pod that has ended, and one whose annotation cannot be read": {
			in: Input{Pods: func() []corev1.Pod {
				ended, garbage := makeUser("ended", "gone"), makeUser("garbage", "gone")
				ended.Status.Phase = corev1.PodSucceeded
				garbage.Annotations[extension.AnnotationReservationAllocated] = "{"
				return []corev1.Pod{ended, garbage}
			}()},
		},
		"a pod in operating mode stands for a Reservation": {
			in: Input{Pods: func() []corev1.Pod {
				holder, user := makeUser("holder", "x"), makeUser("web", "x")
				holder.UID, holder.Annotations = "uid-x", nil
				holder.Labels = map[string]string{extension.LabelPodOperatingMode: string(extension.PodOperatingModeReservation)}
				return []corev1.Pod{holder, user}
			}()},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, lines(Overviews(tc.in))); diff != "" {
				t.Errorf("unexpected overviews (-want +got):\n%s", diff)
			}
		})
	}
}

// TestAnOverviewSaysWhoMayUseItAndUntilWhen: what the object itself says.
func TestAnOverviewSaysWhoMayUseItAndUntilWhen(t *testing.T) {
	r := makeReservation("night", "0")
	created := metav1.Date(2026, 3, 4, 5, 0, 0, 0, metav1.Now().UTC().Location())
	r.CreationTimestamp, r.Spec.TTL = created, &metav1.Duration{Duration: 3600e9}
	r.Spec.Owners = []schedulingv1alpha1.ReservationOwner{
		{Object: &corev1.ObjectReference{Namespace: "shop", Name: "web"}}, {},
		{LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}},
	}
	got := Overviews(Input{Reservations: []schedulingv1alpha1.Reservation{r}})[0]
	if owners := strings.Join(got.Owners, " | "); owners != "pod shop/web | pods with app=web" {
		t.Errorf("owners %q", owners)
	}
	if got.Expires == nil || got.Expires.Sub(created.Time).Hours() != 1 || !got.AllocateOnce {
		t.Errorf("expires %v, once %t", got.Expires, got.AllocateOnce)
	}
	r.Status.Phase = schedulingv1alpha1.ReservationSucceeded
	if got := Overviews(Input{Reservations: []schedulingv1alpha1.Reservation{r}})[0]; got.Expires != nil {
		t.Errorf("a Reservation that has ended expires at %v", got.Expires)
	}
}
