package main

import "github.com/spf13/cobra"

func newAnalyzeCommand() *cobra.Command { return &cobra.Command{Use: "analyze"} }
func newReportCommand() *cobra.Command  { return &cobra.Command{Use: "report"} }
