package softeviction

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/decision/nodeqos/eviction"
)

const (
	// expiry is how long after its timestamp a request is carried out.
	expiry = time.Hour
	// skew is by how much the clocks of the requester and of the API server may differ.
	skew = time.Minute
	// budgetShare is the divisor of the eviction budget of the node that soft evictions may take.
	budgetShare = 2
)

// State of a request.
type State string

// States of a request; see the package.
const (
	Due     State = "due"
	Waiting State = "waiting"
	Leaving State = "leaving"
	Expired State = "expired"
	Ignored State = "ignored"
)

// States lists all of them.
func States() []State { return []State{Due, Waiting, Leaving, Expired, Ignored} }

// Request is what becomes of the request of one pod.
type Request struct {
	Pod   eviction.Ref `json:"pod"`
	State State        `json:"state"`
	// Reason for the state, in one sentence.
	Reason string `json:"reason"`
	// Options of the eviction of a pod that is due, without preconditions and dryRun; never nil then.
	Options *metav1.DeleteOptions `json:"options,omitempty"`
}

// Verdict is what becomes of all requests, the earliest timestamp first, and by name among equal ones.
type Verdict struct {
	Requests []Request `json:"requests,omitempty"`
}

// Victims are the pods to evict, in order.
func (v Verdict) Victims() []eviction.Victim {
	var out []eviction.Victim
	for i := range v.Requests {
		if request := &v.Requests[i]; request.State == Due {
			out = append(out, eviction.Victim{Pod: request.Pod, Feature: eviction.SoftEvict, Reason: request.Reason, DeleteOptions: request.Options})
		}
	}
	return out
}

// Decide decides which of the pods that are requested to be evicted softly are evicted now.
func Decide(in Input) Verdict {
	pods := slices.SortedFunc(slices.Values(in.Pods), func(a, b Pod) int {
		return cmp.Or(a.at().Compare(b.at()), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	var out Verdict
	left, held := share(in.Budget).Remaining(in.Now)
	left -= in.Taken
	for i := range pods {
		request := decide(in.Now, &pods[i])
		if request.State == Due {
			if left <= 0 {
				request.State, request.Reason, request.Options = Waiting, "half of the eviction budget of the node is used up: "+held, nil
			}
			left--
		}
		out.Requests = append(out.Requests, request)
	}
	return out
}

// at is when the request is due; zero for one without a timestamp.
func (p *Pod) at() time.Time {
	if p.Request == nil || p.Request.Timestamp == nil {
		return time.Time{}
	}
	return p.Request.Timestamp.Time
}

// decide decides one request, whatever the budget.
func decide(now time.Time, pod *Pod) Request {
	out := Request{Pod: pod.Ref}
	in := func(state State, format string, args ...any) Request {
		out.State, out.Reason = state, fmt.Sprintf(format, args...)
		return out
	}
	at := pod.at()
	switch {
	case pod.Leaving:
		return in(Leaving, "it is being deleted")
	case !pod.Active:
		return in(Ignored, "it succeeded or failed")
	case pod.Problem != "":
		return in(Ignored, "%s", pod.Problem)
	case pod.Protected != "":
		return in(Ignored, "%s", pod.Protected)
	case !at.IsZero() && at.Before(pod.Created.Add(-skew)):
		return in(Ignored, "the request of %s is older than the pod: it was copied from another one", at.UTC().Format(time.RFC3339))
	case !at.IsZero() && now.Sub(at) > expiry:
		return in(Expired, "the request of %s is more than %s old", at.UTC().Format(time.RFC3339), expiry)
	}
	if why := unmet(pod); why != "" {
		return in(Ignored, "%s", why)
	}
	switch {
	case at.After(now):
		return in(Waiting, "it is to be evicted at %s", at.UTC().Format(time.RFC3339))
	case pod.Refused != eviction.NotRefused:
		return in(Waiting, "%s", pod.Refused.Reason())
	}
	out.Options = options(pod.Request.DeleteOptions)
	return in(Due, "%s", reasonOf(pod))
}

// unmet says which condition of the deleteOptions does not hold.
func unmet(pod *Pod) string {
	given := pod.Request.DeleteOptions
	if given == nil {
		return ""
	}
	if len(given.DryRun) > 0 {
		return "its deleteOptions ask for a dry run"
	}
	if grace := given.GracePeriodSeconds; grace != nil && *grace < 0 {
		return fmt.Sprintf("its deleteOptions have gracePeriodSeconds %d", *grace)
	}
	conditions := given.Preconditions
	switch {
	case conditions == nil:
		return ""
	case conditions.UID != nil && string(*conditions.UID) != pod.UID:
		return fmt.Sprintf("the request is for the pod with UID %q", *conditions.UID)
	case conditions.ResourceVersion != nil && *conditions.ResourceVersion != pod.ResourceVersion:
		return fmt.Sprintf("the request is for resourceVersion %q of the pod", *conditions.ResourceVersion)
	}
	return ""
}

// options of the eviction: those of the request that say how the pod terminates.
func options(given *metav1.DeleteOptions) *metav1.DeleteOptions {
	if given == nil {
		return &metav1.DeleteOptions{}
	}
	return &metav1.DeleteOptions{GracePeriodSeconds: given.GracePeriodSeconds, PropagationPolicy: given.PropagationPolicy}
}

func reasonOf(pod *Pod) string {
	by := pod.Request.Initiator
	if by == "" {
		by = "an unnamed component"
	}
	if pod.Request.Reason == "" {
		return "requested by " + by
	}
	return fmt.Sprintf("requested by %s: %s", by, pod.Request.Reason)
}

// share is the part of a budget that soft evictions may take.
func share(budget *eviction.Budget) *eviction.Budget {
	if budget == nil {
		return nil
	}
	out := *budget
	if out.PerRound > 0 {
		out.PerRound = max(out.PerRound/budgetShare, 1)
	}
	if out.PerWindow > 0 {
		out.PerWindow = max(out.PerWindow/budgetShare, 1)
	}
	return &out
}
