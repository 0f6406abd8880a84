package simulated

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/core/podrequest"
)

// Profile is the way a pod uses CPU over time.
type Profile string

const (
	// ProfileService follows the day: 10-40 % of the request, most in the afternoon. The default of prod pods.
	ProfileService Profile = "service"
	// ProfileSteady stays near its level, 25 % of the request by default.
	ProfileSteady Profile = "steady"
	// ProfileHot stays near its level, 90 % of the request by default.
	ProfileHot Profile = "hot"
	// ProfileBatch takes all it may: up to its limit, or its request when it has none. The default of all others.
	ProfileBatch Profile = "batch"
)

// Bounds of the annotations.
const (
	maxCPUPercent = 1000
	maxAge        = 1000 * time.Hour
)

// What a pod that requests nothing is taken to need.
const (
	emptyMilliCPU = 250
	emptyMemory   = 200 << 20
)

// Load is a recorded CPU load that replaces a profile.
type Load interface {
	// At returns the load at a simulated moment as a fraction of the pod's request; never negative.
	At(at time.Time) float64
}

// Pod is what the simulation knows of a pod. It is not changed once it is given to a Host.
type Pod struct {
	// UID of the pod.
	UID types.UID
	// Workload is namespace/name of the controller whose replicas share a rhythm: a Deployment rather than its
	// ReplicaSet; the pod itself when it has none.
	Workload string
	// Name is namespace/name of the pod.
	Name string
	// Profile of its CPU use.
	Profile Profile
	// CPUPercent the profile is centred on, in percent of the request; 0 for the profile's default.
	CPUPercent float64
	// Band decides who yields when the machine is full.
	Band extension.PriorityClass
	// Request and Limit in the tier the pod consumes; a limit of 0 is none.
	Request, Limit podrequest.Amount
	// Started is when the pod began, in simulated time.
	Started time.Time
	// Load replaces the profile when it is not nil.
	Load Load
}

// FromPod reads a pod. Annotations that cannot be understood are left out and named in the error, which comes with a
// usable Pod.
func FromPod(pod *corev1.Pod, timeline Timeline) (*Pod, error) {
	requests := podrequest.Of(pod)
	tier := requests.Tier()
	out := &Pod{
		UID:      pod.UID,
		Workload: workload(pod),
		Name:     pod.Namespace + "/" + pod.Name,
		Band:     requests.Band,
		Request:  requests.Requests.Of(tier),
		Limit:    podrequest.LimitsOf(pod).Of(tier),
		Profile:  ProfileBatch,
	}
	if yieldsLast(out.Band) {
		out.Profile = ProfileService
	}
	age, err := out.readAnnotations(pod.Annotations)
	out.Started = timeline.At(started(pod)).Add(-age)
	if err != nil {
		return out, fmt.Errorf("pod %q: %w", out.Name, err)
	}
	return out, nil
}

func (p *Pod) readAnnotations(annotations map[string]string) (age time.Duration, err error) {
	var problems []error
	if name, ok := annotations[AnnotationProfile]; ok {
		switch profile := Profile(name); profile {
		case ProfileService, ProfileSteady, ProfileHot, ProfileBatch:
			p.Profile = profile
		default:
			problems = append(problems, fmt.Errorf("annotation %s: unknown profile %.40q: must be service, steady, hot or batch", AnnotationProfile, name))
		}
	}
	if text, ok := annotations[AnnotationCPUPercent]; ok {
		percent, err := parsePercent(text, maxCPUPercent)
		if err != nil {
			problems = append(problems, fmt.Errorf("annotation %s: %w", AnnotationCPUPercent, err))
		}
		p.CPUPercent = percent
	}
	if text, ok := annotations[AnnotationAge]; ok {
		parsed, err := time.ParseDuration(text)
		if err != nil || parsed < 0 || parsed > maxAge {
			problems = append(problems, fmt.Errorf("annotation %s: %.40q is not a duration from 0 to %s", AnnotationAge, text, maxAge))
		} else {
			age = parsed
		}
	}
	return age, errors.Join(problems...)
}

func parsePercent(text string, most float64) (float64, error) {
	percent, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(percent) || percent < 0 || percent > most {
		return 0, fmt.Errorf("%.40q is not a number from 0 to %g", text, most)
	}
	return percent, nil
}

// started is when the kubelet saw the pod, or when it was created.
func started(pod *corev1.Pod) time.Time {
	if pod.Status.StartTime != nil {
		return pod.Status.StartTime.Time
	}
	return pod.CreationTimestamp.Time
}

// workload names a pod's controller, a ReplicaSet by the Deployment it belongs to.
func workload(pod *corev1.Pod) string {
	owner := metav1.GetControllerOf(pod)
	if owner == nil {
		return pod.Namespace + "/" + pod.Name
	}
	name := owner.Name
	if hash := pod.Labels["pod-template-hash"]; hash != "" && owner.Kind == "ReplicaSet" {
		name = strings.TrimSuffix(name, "-"+hash)
	}
	return pod.Namespace + "/" + name
}

// yieldsLast reports whether a band consumes plain resources: prod, and pods outside of all bands.
func yieldsLast(band extension.PriorityClass) bool {
	return band == extension.PriorityProd || band == extension.PriorityNone
}
