package kubectlplugin

import (
	"encoding/json"
	"maps"
	"net/http"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/source"
	"koordinator.sh/koord/source/live/livetest"
)

// diagnosticsAPI answers questions as koord-manager does: every pod and Reservation waits, and every agent did one thing.
func diagnosticsAPI(w http.ResponseWriter, r *http.Request) {
	var answer any
	namespaced := strings.Contains(r.URL.Path, "/namespaces/")
	if namespaced != strings.HasSuffix(r.URL.Path, "/podexplanations") {
		http.NotFound(w, r) // as for every resource that is asked for in the wrong scope
		return
	}
	switch path.Base(r.URL.Path) {
	case "podexplanations":
		explanation := &diagnosticsv1alpha1.PodExplanation{}
		_ = json.NewDecoder(r.Body).Decode(explanation)
		explanation.Status.Pod = diagnosticsv1alpha1.PodFacts{Namespace: "shop", Name: explanation.Spec.PodName, ReservationName: explanation.Spec.ReservationName}
		explanation.Status.Verdict, explanation.Status.Summary = diagnosticsv1alpha1.PodUnschedulable, "0/3 nodes are available: 3 node(s) had no room"
		answer = explanation
	case "nodeexplanations":
		explanation := &diagnosticsv1alpha1.NodeExplanation{}
		_ = json.NewDecoder(r.Body).Decode(explanation)
		explanation.Name = explanation.Spec.NodeName
		explanation.Status.Agent = &diagnosticsv1alpha1.AgentExplanation{Instance: "one", Audit: &diagnosticsv1alpha1.AuditPage{
			Last: 1, Entries: []diagnosticsv1alpha1.AuditEntry{{Number: 1, Time: metav1.NewMicroTime(testNow), Object: "cpu.cfs_quota_us"}},
		}}
		answer = explanation
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(answer)
}

// completeCluster has an object of each kind, and a diagnostics API.
func completeCluster(t *testing.T) *livetest.Server {
	server := recommendationCluster(t)
	server.Reservations = []schedulingv1alpha1.Reservation{{ObjectMeta: metav1.ObjectMeta{Name: "nightly"}}}
	server.Diagnostics = http.HandlerFunc(diagnosticsAPI)
	server.Devices = deviceCluster().Devices
	quotas := gangCluster()
	server.Lists = maps.Clone(quotas.Lists)
	named := metav1.ObjectMeta{Namespace: "shop", Name: "web"}
	maps.Copy(server.Lists, map[string]runtime.Object{
		"deployments": &appsv1.DeploymentList{Items: []appsv1.Deployment{{ObjectMeta: named}}}, "statefulsets": &appsv1.StatefulSetList{Items: []appsv1.StatefulSet{{ObjectMeta: named}}},
		"replicasets": &appsv1.ReplicaSetList{Items: []appsv1.ReplicaSet{{ObjectMeta: named}}}, "jobs": &batchv1.JobList{Items: []batchv1.Job{{ObjectMeta: named}}}, "daemonsets": &appsv1.DaemonSetList{Items: []appsv1.DaemonSet{{ObjectMeta: named}}},
	})
	server.Lists["elasticworkers"] = &schedulingv1alpha1.ElasticWorkersList{Items: []schedulingv1alpha1.ElasticWorkers{{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "trino"}}}}
	server.Pods = append(server.Pods, quotas.Pods[len(server.Pods):]...)
	return serveMigrations(server, refusedMigration())
}

// commandOf a verb for a kind written in one of its ways.
func commandOf(v verb, word string) string { return v.name + " " + word }

// TestEveryNounIsWrittenInItsOwnWords: no word names two kinds, and each has those that kubectl's kinds have, the name of the resource
// among them.
func TestEveryNounIsWrittenInItsOwnWords(t *testing.T) {
	taken := map[string]source.Kind{}
	for _, n := range nouns() {
		if n.API.Kind == "" || n.API.Version == "" {
			t.Errorf("%s: the API serves no kind %q", n, n.API)
		}
		if !slices.Contains(n.Words(), strings.ToLower(n.API.Kind)) {
			t.Errorf("%s: its kind %s is none of its words", n, n.API.Kind)
		}
		for _, word := range n.Words() {
			if other, used := taken[word]; used || word == "" || word != strings.ToLower(word) {
				t.Errorf("%s: word %q is empty, not lower case or names %s too", n, word, other)
			}
			taken[word] = n.Kind
			if got, known := kindOf(word); !known || got != n.Kind {
				t.Errorf("%q names %q, want %q", word, got, n)
			}
		}
	}
	if got, known := kindOf("quota-profile"); known {
		t.Errorf("a word that names nothing names %q", got)
	}
}

// TestEveryNounIsComplete: whatever is registered is a command under each of its words, with help, completion and every format.
func TestEveryNounIsComplete(t *testing.T) {
	root := NewCommand(Options{Name: "koordctl"})
	for _, n := range nouns() {
		applies := 0
		for _, v := range verbs() {
			if v.of(n) == nil {
				continue
			}
			applies++
			for _, word := range n.Words() {
				cmd, rest, err := root.Find(strings.Fields(commandOf(v, word)))
				if err != nil || len(rest) > 0 || cmd.HasSubCommands() {
					t.Errorf("%s: no command %q: %v", n, commandOf(v, word), err)
					continue
				}
				if cmd.Short == "" || cmd.Long == "" || !strings.Contains(cmd.Example, "koordctl "+v.name) || strings.Contains(cmd.Example, "%!") {
					t.Errorf("%s: help of %q is incomplete: %q, %q, %q", n, v.name, cmd.Short, cmd.Long, cmd.Example)
				}
			}
			t.Run(v.name+" "+n.Name, func(t *testing.T) { checkNoun(t, v, n) })
		}
		if applies == 0 {
			t.Errorf("%s: no verb applies", n)
		}
	}
}

// checkNoun asks about the first object that completion proposes.
func checkNoun(t *testing.T, v verb, n noun) {
	inNamespace := ""
	if n.Namespaced {
		inNamespace = " -n shop"
	}
	proposed := runWords(t, completeCluster(t), append(strings.Fields("__complete"+inNamespace+" "+commandOf(v, n.Name)), ""))
	name, _, _ := strings.Cut(proposed.stdout, "\n")
	if name == "" || strings.HasPrefix(name, ":") {
		t.Fatalf("completion proposes nothing: %+v", proposed)
	}
	line := commandOf(v, n.Name) + " " + name + inNamespace
	cmd, _, err := NewCommand(Options{Name: "koordctl"}).Find(strings.Fields(commandOf(v, n.Name)))
	if err != nil {
		t.Fatal(err)
	}
	wantAnswer := cmd.Annotations[answerAnnotation]
	for _, format := range []string{"json", "yaml"} {
		got := run(t, completeCluster(t), line+" -o "+format)
		var answer metav1.TypeMeta
		if err := yaml.Unmarshal([]byte(got.stdout), &answer); err != nil {
			t.Fatalf("%s -o %s: %v", line, format, err)
		}
		if answer.Kind != wantAnswer || answer.APIVersion == "" || got.code != ExitOK {
			t.Errorf("%s -o %s: exit code %d, answer %+v, want kind %q\n%s", line, format, got.code, answer, wantAnswer, got.stderr)
		}
	}
	for _, format := range []string{"", " -o wide"} {
		if got := run(t, completeCluster(t), line+format); got.code != ExitOK || got.stdout == "" {
			t.Errorf("%s%s: %+v", line, format, got)
		}
	}
	got := run(t, completeCluster(t), line+" -o name")
	ofOthers := n.Kind == source.KindWorkload // whose names say which of kubectl's kinds they are
	if kind, named, _ := strings.Cut(strings.TrimSpace(got.stdout), "/"); !namesKind(kind) && !ofOthers || named == "" || got.code != ExitOK {
		t.Errorf("%s -o name: %+v", line, got)
	}
	if got := run(t, completeCluster(t), commandOf(v, n.Name)+" a/b/c"); got.code != ExitUsage {
		t.Errorf("a name with two slashes is taken: %+v", got)
	}
	if v.name != topCommand {
		return
	}
	if got := run(t, completeCluster(t), commandOf(v, n.Name)+" nobody"+inNamespace); got.code != ExitError || !strings.Contains(got.stderr, n.Name+` "nobody" not found`) {
		t.Errorf("an object that does not exist is listed: %+v", got)
	}
}

// TestEveryNounIsFoundByTypeAndName: explain TYPE/NAME and explain TYPE NAME are one question, and why asks it briefly.
func TestEveryNounIsFoundByTypeAndName(t *testing.T) {
	for _, n := range nouns() {
		if n.explain == nil {
			continue
		}
		for _, word := range n.Words() {
			full := "explain " + word + " x"
			for line, want := range map[string]string{
				"explain " + word + "/x": full, "why " + word + "/x": full + " --depth=1", "why " + word + " x": full + " --depth=1",
			} {
				got := strings.Join(expandArguments(NewCommand(Options{Name: "koordctl"}), strings.Fields(line)), " ")
				if got != want {
					t.Errorf("%s becomes %q, want %q", line, got, want)
				}
			}
		}
	}
}

// TestUsageNamesEveryNoun: who leaves out the type, or writes one that there is none, sees which there are.
func TestUsageNamesEveryNoun(t *testing.T) {
	for _, v := range verbs() {
		cmd, _, err := NewCommand(Options{Name: "koordctl"}).Find(strings.Fields(v.name))
		if err != nil {
			t.Fatal(err)
		}
		known, command := alternatives(commandNames(cmd)), "koordctl "+v.name
		wantErrs := map[string]string{
			v.name:              "error: a command is required: " + known + "\nhint: see " + command + " --help\n",
			v.name + " widgets": "error: unknown command \"widgets\" for \"" + command + "\": must be " + known + "\nhint: see " + command + " --help\n",
		}
		if _, takes := alone[v.name]; takes {
			delete(wantErrs, v.name+" widgets") // the name of an object
		}
		for line, wantErr := range wantErrs {
			got := run(t, cluster(), line)
			if diff := cmp.Diff(result{stderr: wantErr, code: ExitUsage}, got, cmp.AllowUnexported(result{})); diff != "" {
				t.Errorf("%s (-want +got):\n%s", line, diff)
			}
		}
		for _, kind := range kindsOf(v.of) {
			if !strings.Contains(known, kind.Name) {
				t.Errorf("%s does not name %s: %s", v.name, kind, known)
			}
		}
	}
	got := run(t, cluster(), "why pod")
	for _, kind := range kindsOf(explains) {
		if !strings.Contains(got.stderr, kind.Name) {
			t.Errorf("why does not name %s: %s", kind, got.stderr)
		}
	}
}

// TestTheDocumentationListsEveryNounAndCommand: docs/commands.md is what the commands say.
func TestTheDocumentationListsEveryNounAndCommand(t *testing.T) {
	const page = "../docs/commands.md"
	got := Reference()
	if *update {
		if err := os.WriteFile(page, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("docs/commands.md is out of date, make generate writes it (-want +got):\n%s", diff)
	}
	for _, n := range nouns() {
		if !strings.Contains(got, "\n| `"+n.Name+"`, `"+n.Plural+"` | ") || n.Short != "" && !strings.Contains(got, "` | `"+n.Short+"` | ") {
			t.Errorf("the table of objects lacks %s", n)
		}
	}
	for _, v := range verbs() {
		if !slices.ContainsFunc(nouns(), func(n noun) bool { return v.of(n) != nil }) {
			t.Errorf("no noun has the verb %q", v.name)
		}
	}
}
