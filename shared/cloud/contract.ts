import * as z from 'zod'
import { defineOperations } from '../kernel/contract/operation.ts'
import { ServiceCreate } from './create.ts'
import { AuthInfo, CreatedService, Project, Service } from './record.ts'

/** The path that every management base address ends in; the paths of the operations are below it. */
export const basePath = '/public/api/v1'

const ofProject = z.object({ project_id: z.string() })
const ofService = ofProject.extend({ service_id: z.string() })

/** The management API, by operationId (timescale/tiger-cli `openapi.yaml`; success statuses: seed rows cloud.op.*). */
export const operations = defineOperations({
  getAuthInfo: {
    method: 'GET',
    path: '/auth/info',
    auth: 'basic',
    kind: 'read',
    scope: 'cloud:read',
    summary: 'Show the key in use, its project and who issued it',
    response: { 200: AuthInfo },
  },
  getProjects: {
    method: 'GET',
    path: '/projects',
    auth: 'basic',
    kind: 'read',
    scope: 'cloud:read',
    summary: 'List projects: a key sees its own',
    response: { 200: z.array(Project) },
  },
  getServices: {
    method: 'GET',
    path: '/projects/{project_id}/services',
    auth: 'basic',
    kind: 'read',
    scope: 'cloud:read',
    summary: 'List services',
    params: ofProject,
    response: { 200: z.array(Service) },
  },
  createService: {
    method: 'POST',
    path: '/projects/{project_id}/services',
    auth: 'basic',
    kind: 'create',
    scope: 'cloud:write',
    summary: 'Create service',
    params: ofProject,
    body: ServiceCreate,
    response: { 202: CreatedService },
  },
  getService: {
    method: 'GET',
    path: '/projects/{project_id}/services/{service_id}',
    auth: 'basic',
    kind: 'read',
    scope: 'cloud:read',
    summary: 'Get service',
    params: ofService,
    response: { 200: Service },
  },
})
