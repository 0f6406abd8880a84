package guest

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWhatAConsoleTells(t *testing.T) {
	notRun := Result{Ended: "not run", Tests: map[string]string{}}
	tests := []struct {
		name, console string
		want          Report
	}{
		{
			name: "all programs ran",
			console: "[    0.1] booting\r\n\r\n@@guest started 0\r\n--- PASS: TestA (0.00s)\r\n    --- SKIP: TestA/b (0.00s)\r\nPASS\r\n\r\n@@guest ended 0 passed\r\n" +
				"@@guest started 1\n--- FAIL: TestC (1.00s)\n@@guest ended 1 exit status 1\n@@guest finished\n",
			want: Report{Finished: true, Programs: []Result{
				{Ended: Passed, Output: "--- PASS: TestA (0.00s)\n    --- SKIP: TestA/b (0.00s)\nPASS\n\n", Tests: map[string]string{"TestA": "PASS", "TestA/b": "SKIP"}},
				{Ended: "exit status 1", Output: "--- FAIL: TestC (1.00s)\n", Tests: map[string]string{"TestC": "FAIL"}},
			}},
		},
		{
			name: "the guest hangs", console: "@@guest started 0\n=== RUN TestA\n",
			want: Report{Programs: []Result{{Ended: "still running when the guest ended", Output: "=== RUN TestA\n", Tests: map[string]string{}}, notRun}},
		},
		{
			name: "the guest cannot begin", console: "@@guest broken mount cgroup2: no such device\n",
			want: Report{Broken: "mount cgroup2: no such device", Programs: []Result{notRun, notRun}},
		},
		{name: "numbers of no program", console: "@@guest started 7\n@@guest ended x passed\n", want: Report{Programs: []Result{notRun, notRun}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, ParseConsole(test.console, 2)); diff != "" {
				t.Errorf("report (-want +got):\n%s", diff)
			}
		})
	}
}
