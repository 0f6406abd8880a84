// Command koord-scheduler schedules pods onto nodes by what the nodes really use.
package main

import (
	"os"

	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"          // the JSON log format
	_ "k8s.io/component-base/metrics/prometheus/clientgo" // metrics of the client
	_ "k8s.io/component-base/metrics/prometheus/version"  // the version metric

	"koordinator.sh/koord/scheduler/app"
)

func main() {
	os.Exit(cli.Run(app.NewCommand()))
}
