package live

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"koordinator.sh/koord/source"
)

// overviews is a diagnostics API that lists nodes.
type overviews struct {
	code   int
	answer string
	// asked are the selectors.
	asked []string
}

func (o *overviews) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.HasSuffix(r.URL.Path, "/nodeoverviews") {
		o.asked = append(o.asked, r.URL.Query().Get("labelSelector"))
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(o.code)
	_, _ = w.Write([]byte(o.answer))
}

// TestNodesAreListedByTheManagerWhereItKnowsAll, and read where it does not.
func TestNodesAreListedByTheManagerWhereItKnowsAll(t *testing.T) {
	const items = `"items":[{"metadata":{"name":"from-the-manager"},"cpu":{"capacity":16000,"allocatable":15000},"metric":{"state":"Fresh"},"load":{"state":"Normal"},"ready":true}]`
	read := []string{"worker-1", "worker-2"}
	tests := map[string]struct {
		query     source.NodeQuery
		code      int
		answer    string
		want      []string
		wantAsked []string
	}{
		"all":                           {answer: `{"kind":"NodeOverviewList","metadata":{},` + items + `}`, want: []string{"from-the-manager"}, wantAsked: []string{""}},
		"by label":                      {query: source.NodeQuery{LabelSelector: "a=b"}, answer: `{"kind":"NodeOverviewList",` + items + `}`, want: []string{"from-the-manager"}, wantAsked: []string{"a=b"}},
		"none":                          {answer: `{"kind":"NodeOverviewList","items":[],"unknown":null,"incomplete":[]}`, want: []string{}, wantAsked: []string{""}},
		"it lacks something":            {answer: `{"kind":"NodeOverviewList",` + items + `,"incomplete":["the load of 1 node is unknown"]}`, want: read, wantAsked: []string{""}},
		"it could not read something":   {answer: `{"kind":"NodeOverviewList","unknown":[{"input":"configmaps/koord-scheduler-config"}],` + items + `}`, want: read, wantAsked: []string{""}},
		"it is of an earlier version":   {code: http.StatusNotFound, answer: `404 page not found`, want: read, wantAsked: []string{""}},
		"the user may not ask it":       {code: http.StatusForbidden, answer: `{}`, want: read, wantAsked: []string{""}},
		"it does not run":               {code: http.StatusServiceUnavailable, answer: `service unavailable`, want: read, wantAsked: []string{""}},
		"it answers something else":     {answer: `{"kind":"NodeExplanation"}`, want: read, wantAsked: []string{""}},
		"its answer ends in the middle": {answer: `{"kind":"NodeOverviewList","items":[{"metadata":`, want: read, wantAsked: []string{""}},
		"its answer is no list":         {answer: `{"kind":"NodeOverviewList","items":[7]}`, want: read, wantAsked: []string{""}},
		"by field":                      {query: source.NodeQuery{FieldSelector: "metadata.name=worker-1"}, want: []string{"worker-1"}},
		"by name":                       {query: source.NodeQuery{Names: []string{"worker-1"}}, want: []string{"worker-1"}},
		"with what load was judged by":  {query: source.NodeQuery{Operands: true}, want: read},
		"with the descheduler's view":   {query: source.NodeQuery{Balance: true}, want: read},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			api := &overviews{code: max(test.code, http.StatusOK), answer: test.answer}
			cluster := measuredCluster()
			cluster.server.Diagnostics = api
			list, err := cluster.source(t).Nodes(t.Context(), test.query)
			if err != nil {
				t.Fatal(err)
			}
			got := []string{}
			for i := range list.Items {
				got = append(got, list.Items[i].Name)
			}
			if diff := cmp.Diff(test.want, got); diff != "" || list.Kind != "NodeOverviewList" || len(list.Incomplete) > 0 {
				t.Errorf("%s, incomplete %q (-want +got):\n%s", list.Kind, list.Incomplete, diff)
			}
			if diff := cmp.Diff(test.wantAsked, api.asked); diff != "" {
				t.Errorf("asked (-want +got):\n%s", diff)
			}
		})
	}
}
