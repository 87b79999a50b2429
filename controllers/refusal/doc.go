// Package refusal records requests that the API server refused (quotas, webhooks, policies), with
// the words of the refusing component and the time of the next attempt.
package refusal
