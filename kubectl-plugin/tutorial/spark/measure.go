package spark

import (
	"context"
	"strconv"
	"strings"

	"koordinator.sh/koord/kubectl-plugin/tutorial"
)

// tasks counts those that Spark has done so far, by what its driver says.
func (s *story) tasks(t *tutorial.Session) func(context.Context) (int64, error) {
	return func(ctx context.Context) (int64, error) {
		logs, err := t.Run(ctx, t.KubectlPath, "", "logs", "-n", Namespace, s.driver.Name, "--tail=20")
		return lastCount(logs), err
	}
}

// lastCount is the figure of the last line of the driver that counts tasks; 0 where there is none.
func lastCount(logs string) (count int64) {
	for line := range strings.Lines(logs) {
		if figure, is := strings.CutPrefix(strings.TrimSpace(line), "tasks "); is {
			if n, err := strconv.ParseInt(figure, 10, 64); err == nil {
				count = n
			}
		}
	}
	return count
}
