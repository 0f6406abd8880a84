package quotaview

import (
	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/decision/core/amount"
	"koordinator.sh/koord/decision/scheduling/quota"
)

// Amounts are the amounts of one resource of a quota; nil where there is none.
type Amounts struct {
	Resource                         corev1.ResourceName
	Min, Max, Runtime, Used, Request *int64
}

// AmountsOf are the amounts of one resource of a quota.
func AmountsOf(q *Quota, resource corev1.ResourceName) Amounts {
	get := func(amounts quota.Amounts) *int64 {
		if value, ok := amounts.Get(resource); ok {
			return &value
		}
		return nil
	}
	return Amounts{Resource: resource, Min: get(q.Min), Max: get(q.Max), Runtime: get(q.Runtime), Used: get(q.Used), Request: get(q.Request)}
}

// format is an amount of the resource for people.
func (a *Amounts) format(v *int64) string { return format(a.Resource, *v) }

func format(resource corev1.ResourceName, v int64) string {
	if v == quota.Unlimited {
		return "unlimited"
	}
	return amount.Format(resource, v)
}

// Resources are those that quotas limit, guarantee or use: cpu and memory first, the others by name.
func Resources(quotas ...*Quota) []corev1.ResourceName {
	var out []corev1.ResourceName
	seen := map[corev1.ResourceName]bool{}
	for _, q := range quotas {
		for _, amounts := range []quota.Amounts{q.Min, q.Max, q.Runtime, q.Used, q.Request} {
			for i := range amounts {
				if name := amounts[i].Resource; !seen[name] {
					seen[name], out = true, append(out, name)
				}
			}
		}
	}
	amount.Sort(out)
	return out
}
