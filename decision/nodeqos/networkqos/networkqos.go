package networkqos

import (
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"

	"koordinator.sh/koord/api/extension"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/core/capacity"
)

// bitsPerByte divides bits into bytes.
const bitsPerByte = 8

// Rate is a bandwidth in bits per second.
type Rate int64

// Bits per second.
func (r Rate) Bits() int64 { return int64(r) }

// Bytes per second, rounded down.
func (r Rate) Bytes() int64 { return int64(r) / bitsPerByte }

// Direction is what is guaranteed and bounded of traffic in one direction, in bits per second.
type Direction struct {
	// Request is guaranteed.
	Request Rate `json:"request"`
	// Limit bounds; it is never below Request, unless it is 0, which is none: the total is not known then.
	Limit Rate `json:"limit"`
}

// Class is the bandwidth of the pods of a class together.
type Class struct {
	Ingress Direction `json:"ingress"`
	Egress  Direction `json:"egress"`
	// Problems say which settings count as not set, and why.
	Problems []string `json:"problems,omitempty"`
}

// OfClass is the bandwidth of a class on a node with a total bandwidth. A class that is switched off, and what is not set, is
// guaranteed nothing and bounded by the total alone.
func OfClass(config *slov1alpha1.NetworkQOSCfg, total Rate) Class {
	var out Class
	qos := slov1alpha1.NetworkQOS{}
	if config != nil && config.Enable != nil && *config.Enable {
		qos = config.NetworkQOS
	}
	out.Ingress = out.direction("ingress", qos.IngressRequest, qos.IngressLimit, total)
	out.Egress = out.direction("egress", qos.EgressRequest, qos.EgressLimit, total)
	return out
}

func (c *Class) direction(name string, request, limit *intstr.IntOrString, total Rate) Direction {
	out := Direction{Request: c.rate(name+"Request", request, total, 0), Limit: c.rate(name+"Limit", limit, total, total)}
	if total > 0 || out.Limit > 0 {
		out.Request = min(out.Request, out.Limit) // of the two the limit counts: it is what protects others
	}
	return out
}

// rate reads one setting; fallback where it is not set or cannot be read.
func (c *Class) rate(name string, setting *intstr.IntOrString, total, fallback Rate) Rate {
	if setting == nil {
		return fallback
	}
	rate, err := RateOf(*setting, total)
	if err != nil {
		c.Problems = append(c.Problems, fmt.Sprintf("%s: %v", name, err))
		return fallback
	}
	return rate
}

// RateOf reads a percentage of a total, or a text in bits per second. More than the total is the total; a total of nothing is
// not known and bounds no text.
func RateOf(setting intstr.IntOrString, total Rate) (Rate, error) {
	if setting.Type == intstr.Int {
		if setting.IntVal < 0 || setting.IntVal > 100 {
			return 0, fmt.Errorf("%d%% is not between 0 and 100", setting.IntVal)
		}
		return Rate(capacity.Percent(int64(total), int64(setting.IntVal))), nil
	}
	rate, err := parse(setting.StrVal)
	if err != nil {
		return 0, err
	}
	if total > 0 {
		rate = min(rate, total)
	}
	return rate, nil
}

// mostText is longer than any bandwidth is written.
const mostText = 64

// parse reads bits per second. The decoder refuses exponents that would take minutes to read.
func parse(text string) (Rate, error) {
	quoted, err := json.Marshal(text)
	if err != nil {
		return 0, fmt.Errorf("quote bandwidth %.40q: %w", text, err)
	}
	var quantity resource.Quantity
	if err := extension.DecodeJSON(string(quoted), mostText, &quantity); err != nil || quantity.Sign() < 0 {
		return 0, fmt.Errorf("%.40q is not a bandwidth in bits per second", text)
	}
	return Rate(quantity.Value()), nil
}

// Pod is the bounds of one pod in bits per second; 0 is none.
type Pod struct {
	IngressLimit Rate `json:"ingressLimit"`
	EgressLimit  Rate `json:"egressLimit"`
	// Problem says why the annotation does not count; empty when it does.
	Problem string `json:"problem,omitempty"`
}

// OfPod is the bounds of a pod by its annotation.
func OfPod(annotations map[string]string, total Rate) Pod {
	config, err := extension.GetNetworkQOS(annotations)
	if err != nil {
		return Pod{Problem: err.Error()}
	}
	if config == nil {
		return Pod{}
	}
	var out Pod
	for _, side := range []struct {
		text string
		into *Rate
	}{{config.IngressLimit, &out.IngressLimit}, {config.EgressLimit, &out.EgressLimit}} {
		if side.text == "" {
			continue
		}
		rate, err := RateOf(intstr.FromString(side.text), total)
		if err != nil {
			return Pod{Problem: err.Error()}
		}
		*side.into = rate
	}
	return out
}
