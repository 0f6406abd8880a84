package yarnagent

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseTasks(t *testing.T) {
	one := task{ID: first, State: "RUNNING", MiB: 1024, VCores: 2}
	for name, test := range map[string]struct {
		status  int
		content string
		want    tasks
		wantErr string
	}{
		"a list":                      {content: `{"containers":{"container":[` + encoded("1024", "2") + `]}}`, want: tasks{one}},
		"one alone":                   {content: `{"containers":{"container":` + encoded("1024", "2") + `}}`, want: tasks{one}},
		"amounts with a fraction":     {content: `{"containers":{"container":[` + encoded("1024.0", "2.0") + `]}}`, want: tasks{one}},
		"amounts as text":             {content: `{"containers":{"container":[` + encoded(`"1024"`, `"2"`) + `]}}`, want: tasks{one}},
		"amounts that are none":       {content: `{"containers":{"container":[` + encoded(`-5`, `"x"`) + `]}}`, want: tasks{{ID: first, State: "RUNNING"}}},
		"amounts beyond all":          {content: `{"containers":{"container":[` + encoded(`1e300`, `2`) + `]}}`, want: tasks{{ID: first, State: "RUNNING", MiB: mostNumber, VCores: 2}}},
		"a list of the shaded jars":   {content: `{"containers":[{"id":"` + first + `","state":"RUNNING","exitCode":-1000,"memoryNeeded":1024,"vcoresNeeded":2}]}`, want: tasks{one}},
		"no containers there":         {content: `{"containers":[]}`, want: tasks{}},
		"no containers":               {content: `{"containers":null}`},
		"no containers, another form": {content: `{"containers":{}}`},
		"nothing":                     {content: `{}`},
		"a page":                      {content: `<html>`, wantErr: "read its answer"},
		"an error":                    {status: http.StatusForbidden, content: `{}`, wantErr: "it answered 403"},
	} {
		t.Run(name, func(t *testing.T) {
			status := test.status
			if status == 0 {
				status = http.StatusOK
			}
			got, err := parseTasks(status, []byte(test.content))
			if test.wantErr == "" && err != nil || test.wantErr != "" && (err == nil || !strings.Contains(err.Error(), test.wantErr)) {
				t.Errorf("error = %v, want %q", err, test.wantErr)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("containers (-want +got):\n%s", diff)
			}
		})
	}
}

func encoded(mib, vcores string) string {
	return fmt.Sprintf(`{"id":%q,"state":"RUNNING","exitCode":-1000,"user":"spark","totalMemoryNeededMB":%s,"totalVCoresNeeded":%s}`, first, mib, vcores)
}

func FuzzParseTasks(f *testing.F) {
	f.Add(`{"containers":{"container":[` + encoded("1024", "2") + `]}}`)
	f.Add(`{"containers":{"container":` + encoded(`"NaN"`, "null") + `}}`)
	f.Add(`{"containers":null}`)
	f.Fuzz(func(t *testing.T, content string) {
		found, err := parseTasks(http.StatusOK, []byte(content))
		for _, one := range found {
			if err != nil || one.MiB < 0 || one.VCores < 0 || one.MiB > mostNumber || one.VCores > mostNumber {
				t.Errorf("%+v, %v", one, err)
			}
		}
	})
}

func TestApplication(t *testing.T) {
	for name, test := range map[string]struct {
		id         string
		wantName   string
		wantMaster bool
		wantValid  bool
	}{
		"a task":                      {id: first, wantName: "application_1764272000000_0001", wantValid: true},
		"a master":                    {id: master, wantName: "application_1764272000000_0001", wantMaster: true, wantValid: true},
		"with an epoch":               {id: second, wantName: "application_1764272000000_0001", wantValid: true},
		"a path":                      {id: "container_1_1_1_1/../../x"},
		"dots":                        {id: ".."},
		"a line behind it":            {id: first + "\nx"},
		"an application":              {id: "application_1764272000000_0001"},
		"an ID that is too long":      {id: "container_1764272000000_0001_01_" + strings.Repeat("1", 300)},
		"a number beyond all masters": {id: "container_1_1_1_9999999999999999999", wantName: "application_1_1", wantValid: true},
	} {
		t.Run(name, func(t *testing.T) {
			got, master, valid := application(test.id)
			if got != test.wantName || master != test.wantMaster || valid != test.wantValid {
				t.Errorf("application(%q) = %q, %t, %t", test.id, got, master, valid)
			}
		})
	}
}
