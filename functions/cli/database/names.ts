/** The role and the database that the endpoint lets clients in as, and that every embedded cluster has. */
export const embeddedName = 'tidegate'
