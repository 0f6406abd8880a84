package live

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/api/extension"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/scheduling/loadaware"
	"koordinator.sh/koord/source"
)

func TestJSONListsAreSplitHoweverTheyArrive(t *testing.T) {
	const list = "{ \"kind\" : \"L\",\n\t\"items\" : [ {\"a\":\"}\\\"]\\\\\"} , 12 ,\"x\\\\\" , [ 1, {} ] , null , true ] , \"metadata\" : { \"items\" : [ 3 ] } }"
	want := []string{`{"a":"}\"]\\"}`, "12", `"x\\"`, "[ 1, {} ]", "null", "true"}
	for name, r := range map[string]io.Reader{
		"whole":        strings.NewReader(list),
		"byte by byte": iotest.OneByteReader(strings.NewReader(list)),
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			err := splitJSON(r, func(raw []byte) error {
				got = append(got, string(raw))
				return nil
			})
			if diff := cmp.Diff(want, got); err != nil || diff != "" {
				t.Errorf("error %v, items (-want +got):\n%s", err, diff)
			}
		})
	}
}

func TestABrokenJSONListEnds(t *testing.T) {
	for _, list := range []string{"", "{", `{"items"`, `{"items":[}`, `{"items":[1}`, `{"items":[{]}`, `{"items":["`, `{"items":["\`, `{"a":}`, `{:1}`, `{a}`, `{"items":}`} {
		err := splitJSON(strings.NewReader(list), func([]byte) error { return nil })
		if err == nil {
			t.Errorf("%s: no error", list)
		}
	}
}

func TestStripJSONLeavesOutExactlyWhatIsNamed(t *testing.T) {
	tests := map[string]struct{ in, want string }{
		"members of inner objects": {`{"metadata":{"name":"n","managedFields":[{"a":"}"}],"uid":"u"},"status":{"nodeMetric":{"aggregatedSystemUsages":[1],"nodeUsage":{}}}}`,
			`{"metadata":{"name":"n","uid":"u"},"status":{"nodeMetric":{"nodeUsage":{}}}}`},
		"the only member":              {`{"metadata":{"managedFields":[]}}`, `{"metadata":{}}`},
		"the same name elsewhere":      {`{"managedFields":1,"spec":{"managedFields":2}}`, `{"managedFields":1,"spec":{"managedFields":2}}`},
		"null where an object belongs": {`{"metadata":null,"status":3}`, `{"metadata":null,"status":3}`},
		"white space":                  {" { \"metadata\" : { \"managedFields\" : [ ] , \"name\" : \"n\" } } ", `{"metadata":{"name":"n"}}`},
		"escapes in names":             {`{"meta\"data":{"managedFields":1}}`, `{"meta\"data":{"managedFields":1}}`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := stripJSON(nil, []byte(tc.in), metricDrop)
			if err != nil || string(got) != tc.want {
				t.Errorf("got %s and %v, want %s", got, err, tc.want)
			}
		})
	}
}

func TestBrokenJSONIsTheDecodersToRefuse(t *testing.T) {
	for _, text := range []string{`{`, `{"a"`, `{"a":`, `{"a":1`, `{"a" 1}`, `{1:2}`, ``} {
		var metric slov1alpha1.NodeMetric
		if err := unmarshalJSON([]byte(text), metricDrop, &metric); err == nil {
			t.Errorf("%s: no error", text)
		}
	}
}

func TestPercentilesAreReadWhereTheyAreCompared(t *testing.T) {
	own := func(thresholds string) corev1.Node {
		return corev1.Node{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{extension.AnnotationCustomUsageThresholds: thresholds}}}
	}
	percentiles := &loadaware.Args{Aggregated: &loadaware.AggregatedArgs{UsageThresholds: map[corev1.ResourceName]int64{"cpu": 80}, UsageAggregationType: "p95"}}
	tests := map[string]struct {
		args  *loadaware.Args
		nodes []corev1.Node
		want  droppedKeys
	}{
		"unknown arguments":                             {nil, []corev1.Node{{}}, metricBriefDrop},
		"the latest usage":                              {&loadaware.Args{}, []corev1.Node{{}}, metricBriefDrop},
		"percentiles by arguments":                      {percentiles, []corev1.Node{{}}, metricDrop},
		"percentiles for the score, which is not shown": {&loadaware.Args{Aggregated: &loadaware.AggregatedArgs{ScoreAggregationType: "p95"}}, []corev1.Node{{}}, metricBriefDrop},
		"thresholds of one node":                        {nil, []corev1.Node{{}, own(`{"usageThresholds": {"cpu": 80}}`)}, metricBriefDrop},
		"thresholds of one node for percentiles": {
			nil, []corev1.Node{{}, own(`{"aggregatedUsage": {"usageThresholds": {"cpu": 80}, "usageAggregationType": "p95"}}`)}, metricDrop,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, metricDropFor(tc.args, tc.nodes)); diff != "" {
				t.Errorf("dropped (-want +got):\n%s", diff)
			}
		})
	}
}

func TestFinishedPodsAreNotAskedFor(t *testing.T) {
	server := largeCluster(1, 3)
	server.Pods[0].Status.Phase = corev1.PodSucceeded
	server.Start(t)
	list, err := New(server.Config(""), Options{}).Nodes(t.Context(), source.NodeQuery{})
	if err != nil || *list.Items[0].Pods != 2 {
		t.Fatalf("got %+v and %v, want 2 pods", list, err)
	}
	asked := fmt.Sprint(server.Requests())
	if !strings.Contains(asked, "status.phase%21%3DSucceeded") || !strings.Contains(asked, "status.phase%21%3DFailed") {
		t.Errorf("asked %s", asked)
	}
}

func FuzzJSONList(f *testing.F) {
	f.Add([]byte(`{"kind":"L","items":[{"a":"\""},[1],null],"metadata":{}}`))
	f.Add([]byte(`{"items":[}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var got []any
		err := splitJSON(bytes.NewReader(data), func(raw []byte) error {
			var item any
			if err := json.Unmarshal(raw, &item); err != nil {
				return err
			}
			got = append(got, item)
			return nil
		})
		var members map[string]json.RawMessage
		if json.Unmarshal(data, &members) != nil || bytes.Count(data, []byte("items")) != 1 {
			return
		}
		var want []any
		if json.Unmarshal(members["items"], &want) != nil {
			return
		}
		if err != nil || len(got) != len(want) || len(want) > 0 && !reflect.DeepEqual(got, want) {
			t.Errorf("got %v and %v, want %v", got, err, want)
		}
	})
}

func FuzzStripJSON(f *testing.F) {
	f.Add([]byte(`{"metadata":{"name":"n","managedFields":[{"a":"}"}]},"status":{"nodeMetric":{"aggregatedSystemUsages":[1]}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var whole map[string]any
		if json.Unmarshal(data, &whole) != nil || whole == nil {
			return
		}
		kept, err := stripJSON(nil, data, droppedKeys{"none": keys("none")})
		if err != nil {
			t.Fatal(err)
		}
		var got map[string]any
		if err := json.Unmarshal(kept, &got); err != nil {
			t.Fatalf("%v in %s", err, kept)
		}
		if inner, ok := whole["none"].(map[string]any); ok {
			delete(inner, "none")
		}
		if !reflect.DeepEqual(whole, got) {
			t.Errorf("got %s of %s", kept, data)
		}
	})
}
