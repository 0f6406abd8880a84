package policy

import (
	"encoding/json"
	"fmt"

	utilvalidation "k8s.io/apimachinery/pkg/util/validation"

	configv1alpha1 "koordinator.sh/koord/api/config/v1alpha1"
	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/admission/colocationprofile"
)

// Path is who applies a profile.
type Path string

const (
	// ByPolicy means that the API server applies the profile itself.
	ByPolicy Path = "policy"
	// ByWebhook means that pods the profile selects are sent to koord-manager.
	ByWebhook Path = "webhook"
	// ByNone means that the profile never applies.
	ByNone Path = "none"
)

// maxSteps bounds the steps of all profiles in the policy: each becomes a variable that the API server compiles.
const maxSteps = 512

// Verdict says who applies a profile, and why it is not the API server.
type Verdict struct {
	// Profile is its name.
	Profile string `json:"profile"`
	// Path is policy, webhook or none.
	Path Path `json:"path"`
	// Reason says why the profile cannot be expressed in CEL, or why it never applies; empty for ByPolicy.
	Reason string `json:"reason,omitempty"`

	selectors colocationprofile.Selectors
	steps     []colocationprofile.Step
	skips     bool
}

// VerdictsAnnotation is the annotation of the policy that lists, as JSON, the profiles which it does not express and why.
const VerdictsAnnotation = "config.koordinator.sh/not-expressed"

// maxListed bounds the annotation.
const maxListed = 100

// describe lists the profiles that the policy does not express; nil when it expresses all.
func describe(verdicts []Verdict) map[string]string {
	var listed []Verdict
	for _, verdict := range verdicts {
		if verdict.Path != ByPolicy && len(listed) < maxListed {
			listed = append(listed, verdict)
		}
	}
	if len(listed) == 0 {
		return nil
	}
	text, err := json.Marshal(listed)
	if err != nil {
		return nil // strings always encode
	}
	return map[string]string{VerdictsAnnotation: string(text)}
}

// judge decides who applies each profile, in the order of their names.
func judge(profiles []configv1alpha1.ClusterColocationProfile, classes map[string]colocationprofile.PriorityClass) []Verdict {
	feedback := colocationprofile.Feedback(profiles, classes)
	verdicts := make([]Verdict, 0, len(profiles))
	room := maxSteps
	for _, profile := range colocationprofile.ByName(profiles) {
		verdict := judgeOne(profile, classes)
		if reason, ok := feedback[profile.Name]; ok && verdict.Path == ByPolicy {
			verdict.Path, verdict.Reason = ByWebhook, reason
		}
		if verdict.Path == ByPolicy && len(verdict.steps) > room {
			verdict.Path, verdict.Reason = ByWebhook, fmt.Sprintf("the profiles together make more than %d changes", maxSteps)
		}
		if verdict.Path == ByPolicy {
			room -= len(verdict.steps)
		}
		verdicts = append(verdicts, verdict)
	}
	return verdicts
}

func judgeOne(profile *configv1alpha1.ClusterColocationProfile, classes map[string]colocationprofile.PriorityClass) Verdict {
	verdict := Verdict{Profile: profile.Name, skips: colocationprofile.SkipsResources(profile)}
	to := func(path Path, reason string) Verdict {
		verdict.Path, verdict.Reason = path, reason
		return verdict
	}
	var err error
	if verdict.selectors, err = colocationprofile.SelectorsOf(profile); err != nil {
		return to(ByNone, err.Error())
	}
	percent, err := colocationprofile.Percent(profile.Spec.Probability)
	switch {
	case err != nil:
		return to(ByNone, err.Error())
	case percent == 0:
		return to(ByNone, "its probability is 0%")
	case percent < 100:
		return to(ByWebhook, fmt.Sprintf("its probability is %d%%, and CEL has no random numbers", percent))
	}
	if profile.Annotations[extension.ProdOvercommitFactor] != "" {
		return to(ByWebhook, "it overcommits prod pods, whose requests are computed from their limits")
	}
	if verdict.steps, err = colocationprofile.Steps(profile, classes); err != nil {
		return to(ByWebhook, err.Error())
	}
	for _, step := range verdict.steps {
		if step.Kind == colocationprofile.Merge {
			return to(ByWebhook, "its patch changes more than labels and annotations")
		}
		for _, key := range []string{step.Field.Key, step.From.Key} {
			if key != "" && len(utilvalidation.IsQualifiedName(key)) > 0 {
				return to(ByWebhook, fmt.Sprintf("%q is not a valid label or annotation key", key))
			}
		}
	}
	return to(ByPolicy, "")
}
